"""The state of a jackpot and its pools now, and its last hits."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts
from jackpot_service.domain.accounts import Meter, Pools
from jackpot_service.domain.awards import HitPayment, payment_of
from jackpot_service.domain.cards import RANKS, Card, Category, category_of
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import ZERO, RateSheet
from jackpot_service.domain.outcomes import CARDS_OF_A_DEALT_HAND, HandStatus
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import FundedBy, JackpotRules
from jackpot_service.ledger import books
from jackpot_service.records import (
    awards,
    corrections,
    immutable,
    lives,
    references,
    rounds,
    settings_in_force,
    verdicts,
)
from jackpot_service.records.lives import meter_of
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.reports import hit_payments
from jackpot_service.reports.rates import sheet_to_show

# A hit ended the cycle before the one that it opened. Rows are looked up by their keys (LATERAL, LIMIT): a join would
# read all of a jackpot's while the tables are thought to be small.
_LAST_HITS = text(
    """
    SELECT r.table_id, r.round_id, e.booked_at
    FROM cycles c
    CROSS JOIN LATERAL (
        SELECT o.round_key, o.booked_at
        FROM entries o
        WHERE o.jackpot_id = :jackpot_id AND o.stripe_no = c.stripe_no AND o.seq = c.seq
        LIMIT 1
    ) AS e
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id
        FROM rounds o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = e.round_key
        LIMIT 1
    ) AS r
    WHERE c.jackpot_id = :jackpot_id AND (CAST(:before AS bigint) IS NULL OR c.cycle <= :before)
    ORDER BY c.cycle DESC
    LIMIT :limit
    """
)


@dataclass(frozen=True, slots=True)
class JackpotState:
    """
    A jackpot as it stands: its meter and pools, the rules of its running cycle, and where it is in its life.

    `following_version` is the rules version of the next cycle. `sheet` is the one in force, in which amounts are shown.
    `payment` is where that of the last hit stands; None if nothing of it is to be paid, or the jackpot was never hit.
    `displayed`: anybody may see the meter and the last hit, by the newest rules.
    """

    jackpot_id: str
    meter: Meter
    pools: Pools
    rules_version: int
    rules: JackpotRules
    following_version: int
    life: Life
    sheet: RateSheet
    payment: HitPayment | None
    displayed: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """
    A jackpot won: which round, when, what its settlement recorded, and what was paid to whom.

    `base` is the jackpot's currency. `cards` are those of the royal flush. `payment` is where the payment of all awards
    stands, those of corrections too; None if nothing is to be paid.
    """

    round: Round
    base: str
    hit_at: datetime
    settlement: Facts
    awards: tuple[BookedAward, ...]
    cards: tuple[Card, ...]
    payment: HitPayment | None

    @property
    def paid(self) -> Decimal:
        """The cost of the winners together to the meter, in base units."""
        return sum((award.cost for award in self.awards), ZERO)

    @property
    def winners(self) -> int:
        """How many players got something of the meter."""
        return len({award.player_id for award in self.awards})


def jackpot_states(
    session: Session, *, at: datetime, casino_id: str | None = None, limit: int | None = None, after: str | None = None
) -> tuple[JackpotState, ...]:
    """
    Jackpots as they stand, by id: all or those that tables of a casino play for, and so many of those after an id.

    Each is consistent in itself; together they have no common instant.
    """
    jackpot_ids = references.jackpot_ids(session, casino_id=casino_id, limit=limit, after=after)
    return tuple(jackpot_state(session, jackpot_id, at=at) for jackpot_id in jackpot_ids)


def jackpot_state(session: Session, jackpot_id: str, *, at: datetime) -> JackpotState:
    """Read a jackpot as it stands, with the sheet in force at an instant: now. Raises: UnknownJackpot."""
    with pipelined(session) as pipe:
        settings_cursor = settings_in_force.send_read(pipe, jackpot_id, came=[at])
        books_cursor = books.send_read(pipe, jackpot_id)
        payment_cursor = hit_payments.send_last(pipe, jackpot_id)
    in_force = settings_in_force.in_force_of(settings_cursor, jackpot_id)
    held = books.books_of(books_cursor)
    rules_version = held.cycle.rules_version
    return JackpotState(
        jackpot_id=jackpot_id,
        meter=meter_of(session, jackpot_id, held),
        pools=held.pools,
        rules_version=rules_version,
        rules=immutable.rules(session, jackpot_id, rules_version),
        following_version=held.cycle.following_version,
        life=lives.life_of(session, jackpot_id, is_accepting=held.is_accepting),
        sheet=sheet_to_show(session, in_force.base, in_force.rate_sheets[0]),
        payment=hit_payments.last_of(payment_cursor),
        displayed=immutable.rules(session, jackpot_id, held.cycle.following_version).displayed,
    )


def last_hits(session: Session, jackpot_id: str, *, limit: int, before: int | None = None) -> tuple[Hit, ...]:
    """
    List a jackpot's last hits, the latest first, perhaps only those of cycles before one.

    A hit is the entry that opened a cycle after the first.

    Raises: UnknownJackpot.
    """
    base = references.require_base(session, jackpot_id)
    query = {"jackpot_id": jackpot_id, "before": before, "limit": limit}
    return tuple(_hit(session, jackpot_id, *row, base=base) for row in session.execute(_LAST_HITS, query).all())


def _hit(session: Session, jackpot_id: str, table_id: str, round_id: str, booked_at: datetime, *, base: str) -> Hit:
    with pipelined(session) as pipe:
        cursor = rounds.send_find(pipe, jackpot_id, RoundName(table_id, round_id))
    round_ = rounds.round_of(cursor)
    if round_ is None:
        raise LookupError(round_id)
    with pipelined(session) as pipe:
        ending_cursor = verdicts.send_ending(pipe, round_)
        awards_cursor = verdicts.send_awards(pipe, round_, correction=0)
    recorded = verdicts.ending_of(ending_cursor)
    from_meter = _from_meter(verdicts.awards_of(awards_cursor))
    of_all = awards.awards_of_verdicts(session, round_, corrections=corrections.count(session, round_))
    payment = payment_of({award.state for award in _from_meter(of_all)})
    return Hit(round_, base, booked_at, recorded["settlement"], from_meter, _royal_flush_in(recorded), payment)


def _royal_flush_in(recorded: Facts) -> tuple[Card, ...]:
    """Find the cards of the first hand that is a royal flush, the highest first; a result that hit has one."""
    for hand in facts.hands_of(recorded["result"]["hands"]):
        is_whole = hand.status is HandStatus.DEALT and len(hand.cards) == CARDS_OF_A_DEALT_HAND
        if is_whole and category_of(hand.cards) is Category.ROYAL_FLUSH:
            return tuple(sorted(hand.cards, key=lambda card: RANKS.index(card[0]), reverse=True))
    return ()


def _from_meter(awards: Iterable[BookedAward]) -> tuple[BookedAward, ...]:
    return tuple(award for award in awards if award.funded_by == FundedBy.METER)
