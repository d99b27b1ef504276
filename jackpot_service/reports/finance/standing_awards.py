"""
Awards as they stood at the end of a report: the steps that count are those taken by then, whatever came later.

The first step of an award was taken by its settlement, and counts from that entry on. Later steps were taken by acts:
one that booked something in the jackpot's book counts from that entry on, a payment from its act on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.held_awards import AwardKey, MadeAward, Origin
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.ledger import replay
from jackpot_service.reports.finance import award_sums, frame, payments
from jackpot_service.reports.finance.award_amounts import Amounts, added_up
from jackpot_service.reports.finance.frame import Stand

_HELD = text(
    """
    WITH held AS (
        SELECT jackpot_id, round_key FROM award_steps WHERE jackpot_id = :jackpot_id AND step = 'held'
    ), taken AS (
        SELECT s.round_key, s.bet_id, s.tier, s.correction, s.step
        FROM award_steps s
        LEFT JOIN results d ON s.act_seq IS NULL AND d.jackpot_id = s.jackpot_id AND d.round_key = s.round_key
        LEFT JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.round_key = d.round_key AND e.step = d.step
        LEFT JOIN acts t ON t.seq = s.act_seq
        LEFT JOIN LATERAL (
            SELECT CAST(one ->> 'seq' AS bigint) AS seq
            FROM jsonb_array_elements(t.effects) AS one
            WHERE one ->> 'book' = s.jackpot_id
        ) AS effect ON true
        WHERE s.jackpot_id = :jackpot_id
          AND CASE WHEN s.act_seq IS NULL THEN e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
                   WHEN effect.seq IS NOT NULL THEN effect.seq <= (CAST(:ends AS bigint[]))[1]
                   ELSE s.act_seq <= :acts_end END
          AND s.round_key IN (SELECT round_key FROM held)
    )
    SELECT a.round_key, a.bet_id, a.tier, a.correction
    FROM taken a
    GROUP BY 1, 2, 3, 4
    HAVING array_agg(a.step) = ARRAY['held']
    ORDER BY 1, 2, 3
    """
)

_MADE = text(
    """
    SELECT bet_id, tier, amount_minor, currency, cost, funded_by
    FROM awards
    WHERE jackpot_id = :jackpot_id AND round_key = :round_key AND correction = 0
    """
)


@dataclass(frozen=True, slots=True)
class Unpaid:
    """Awards of a currency that a pool paid for and no casino has told to have paid out, and what they come to."""

    funded_by: str
    currency: str
    amounts: Amounts


def unpaid(session: Session, stand: Stand, *, acts_end: int) -> Sequence[Unpaid]:
    """Sum the awards that were payable at the end."""
    credited = award_sums.credited(award_sums.steps(session, frame.until_end(session, stand)))
    paid = payments.until(session, stand, acts_end=acts_end)
    parts = chain(
        (((of.funded_by, of.currency), Amounts(of.awards, of.amount, of.cost)) for of in credited),
        (((of.funded_by, of.currency), of.amounts.negated()) for of in paid),
    )
    return [Unpaid(*key, amounts) for key, amounts in added_up(parts)]


def held_by_origin(session: Session, stand: Stand, *, acts_end: int) -> dict[Account, Decimal]:
    """Sum what the awards held at the end cost, by the account that it was taken from."""
    held: dict[Account, Decimal] = {}
    for account, amount in _origins_of_held(session, stand, acts_end=acts_end):
        held[account] = EXACT.add(held.get(account, ZERO), amount)
    return held


def _origins_of_held(session: Session, stand: Stand, *, acts_end: int) -> Iterator[tuple[Account, Decimal]]:
    asked = {"jackpot_id": stand.jackpot_id, "ends": list(stand.end), "acts_end": acts_end}
    of_round: dict[int, list[AwardKey]] = {}
    for round_key, bet_id, tier, correction in session.execute(_HELD, asked):
        of_round.setdefault(round_key, []).append((bet_id, tier, correction))
    for round_key, keys in of_round.items():
        origins = _origins(session, stand.jackpot_id, round_key)
        for key in keys:
            yield from origins[key].items()


def _origins(session: Session, jackpot_id: str, round_key: int) -> dict[AwardKey, Origin]:
    awards = [MadeAward(*row) for row in session.execute(_MADE, {"jackpot_id": jackpot_id, "round_key": round_key})]
    entries = replay.entries_of_rounds(session, jackpot_id, after=round_key - 1, upto=round_key)
    settled = next(entry for entry in entries if entry.kind == EntryKind.RESULT)
    return held_awards.origins(awards, settled.postings())
