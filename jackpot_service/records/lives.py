"""A jackpot now: the meter that it shows, where it stands in its life, and what keeps it from being retired."""

from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import Text, exists, func, literal_column, select
from sqlalchemy.orm import aliased

from jackpot_service.database.models import NOT_ENDED, AwardStepRow, RoundRow
from jackpot_service.database.transactions import Session, is_snapshot
from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.ledger.books import Books
from jackpot_service.records import acts, immutable
from jackpot_service.records.rounds import RoundName

LONGEST_LOOK_MS = 60_000
"""Looking through all that a jackpot ever did may take long; it is done when its retirement is tried or booked."""

# No parameter but a part of the statement: only so does the planner know that the index of the few fits.
_HELD = literal_column("'held'", Text)


def life_of(session: Session, jackpot_id: str, *, is_accepting: bool) -> Life:
    """Return the state of a jackpot: its stripes say whether it takes bets, its acts why not."""
    if is_accepting:
        return Life.OPEN
    last = acts.last_kind(session, jackpot_id, EntryKind.JACKPOT_SUSPENDED, EntryKind.JACKPOT_RETIRED)
    return Life.RETIRED if last is EntryKind.JACKPOT_RETIRED else Life.SUSPENDED


def take_time(session: Session) -> None:
    """
    Give the statements of this transaction time to look through all that a jackpot ever did.

    A snapshot keeps the time that it has: beyond it nobody waits for the answer any more.
    """
    if not is_snapshot(session):
        session.execute(select(func.set_config("statement_timeout", str(LONGEST_LOOK_MS), True)))  # noqa: FBT003  SQL's is_local


def open_round(session: Session, jackpot_id: str) -> RoundName | None:
    """The latest round of a jackpot that has not ended and carries a live bet; None if there is none."""
    row = session.execute(
        select(RoundRow.table_id, RoundRow.round_id)
        .where(RoundRow.jackpot_id == jackpot_id, NOT_ENDED, RoundRow.bet_count > 0)
        .order_by(RoundRow.round_key.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else RoundName(*row)


def open_weights(session: Session, jackpot_id: str) -> Sequence[tuple[int, Decimal]]:
    """
    The value of the live bets of a jackpot's open rounds, in its base currency, by their rounds' rules version.

    With all stripes locked it is what refunds may still take back: a change of a round books before its commit.
    """
    rows = session.execute(
        select(RoundRow.rules_version, func.sum(RoundRow.weight))
        .where(RoundRow.jackpot_id == jackpot_id, NOT_ENDED, RoundRow.bet_count > 0)
        .group_by(RoundRow.rules_version)
    )
    return [(version, weight) for version, weight in rows]


def has_held_award(session: Session, jackpot_id: str) -> bool:
    """Whether some award of a jackpot is held, and nobody has decided about it."""
    held, later = aliased(AwardStepRow), aliased(AwardStepRow)
    decided = exists().where(
        later.jackpot_id == jackpot_id,
        later.round_key == held.round_key,
        later.bet_id == held.bet_id,
        later.tier == held.tier,
        later.correction == held.correction,
        later.step.in_(("approved", "rejected", "reversed")),
    )
    question = select(held.bet_id).where(held.jackpot_id == jackpot_id, held.step == _HELD, ~decided).limit(1)
    return session.scalar(question) is not None


def meter_of(session: Session, jackpot_id: str, books: Books) -> Meter:
    """Read a jackpot's books as its meter, under the rules of the running cycle."""
    rules = immutable.rules(session, jackpot_id, books.cycle.rules_version)
    return Meter(
        jackpot_id=jackpot_id,
        cycle=books.cycle.cycle,
        base=rules.base,
        exact=books.pools.on_offer(rules.limit),
        overflow=books.pools.overflow(rules.limit),
        as_of=books.booked_at,
        positions=books.positions,
    )
