"""The last hit as everybody may see it: where, when, how much and how many, and never who or at which table."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.cards import Card
from jackpot_service.domain.money import Rate
from jackpot_service.records import references
from jackpot_service.reports.jackpots import last_hits
from jackpot_service.reports.rates import sheet_to_show

_DISPLAYED = text("""
    SELECT j.jackpot_id
    FROM jackpots j
    CROSS JOIN LATERAL (
        SELECT v.document
        FROM rules_versions v
        WHERE v.jackpot_id = j.jackpot_id
        ORDER BY v.version DESC
        LIMIT 1
    ) AS newest
    WHERE newest.document -> 'displayed' = 'true'
""")


@dataclass(frozen=True, slots=True)
class DisplayedHit:
    """
    The hit that ended a cycle.

    `amount_minor` is what the meter paid, in whole minor units of the base currency, rounded down.
    """

    cycle: int
    hit_at: datetime
    casino_id: str
    casino: str
    currency: str
    exponent: int
    amount_minor: int
    cards: tuple[Card, ...]
    winners: int


def displayed_hit(session: Session, jackpot_id: str, *, running: int) -> DisplayedHit | None:
    """
    Read the last hit before a running cycle; None if there was none. Raises: UnknownJackpot.

    That hit stays the same, also if the jackpot was hit since the cycle was read, or read where more has arrived.
    """
    hits = last_hits(session, jackpot_id, limit=1, before=running)
    if not hits:
        return None
    (hit,) = hits
    base = references.require_base(session, jackpot_id)
    rate: Rate = sheet_to_show(session, base, hit.round.rate_sheet).rate(base)
    return DisplayedHit(
        cycle=hit.settlement["cycle"],
        hit_at=hit.hit_at,
        casino_id=hit.round.casino_id,
        casino=references.require_casino(session, hit.round.casino_id).name,
        currency=base,
        exponent=rate.exponent,
        amount_minor=rate.most_minor_within(hit.paid),
        cards=hit.cards,
        winners=hit.winners,
    )


def displayed_jackpots(session: Session) -> frozenset[str]:
    """Read which jackpots are displayed to all, by the newest version of their rules."""
    return frozenset(session.execute(_DISPLAYED).scalars())
