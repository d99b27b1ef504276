"""Where a jackpot stands in its life, and what still keeps it from being retired."""

from sqlalchemy import exists, func, select
from sqlalchemy.orm import aliased

from jackpot_service.db import Session
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.records import acts
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.schema import AwardStepRow, RoundRow

LONGEST_LOOK_MS = 60_000
"""Looking through all rounds of a jackpot takes long, and is done once in its life."""


def life_of(session: Session, jackpot_id: str, *, is_accepting: bool) -> Life:
    """Tell where a jackpot stands: its stripes say whether it takes bets, its acts why not."""
    if is_accepting:
        return Life.OPEN
    last = acts.last_kind(session, jackpot_id, EntryKind.JACKPOT_SUSPENDED, EntryKind.JACKPOT_RETIRED)
    return Life.RETIRED if last is EntryKind.JACKPOT_RETIRED else Life.SUSPENDED


def take_time(session: Session) -> None:
    """Give the statements of this transaction time to look through all that a jackpot ever did."""
    session.execute(select(func.set_config("statement_timeout", str(LONGEST_LOOK_MS), True)))  # noqa: FBT003  SQL's is_local


def open_round(session: Session, jackpot_id: str) -> RoundName | None:
    """The latest round of a jackpot that is open and carries a live bet; None if there is none."""
    row = session.execute(
        select(RoundRow.table_id, RoundRow.round_id)
        .where(RoundRow.jackpot_id == jackpot_id, RoundRow.state == "open", RoundRow.bet_count > 0)
        .order_by(RoundRow.round_key.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else RoundName(*row)


def has_held_award(session: Session, jackpot_id: str) -> bool:
    """Whether some award of a jackpot is held, and nobody has decided about it."""
    held, later = aliased(AwardStepRow), aliased(AwardStepRow)
    decided = exists().where(
        later.jackpot_id == held.jackpot_id,
        later.round_key == held.round_key,
        later.bet_id == held.bet_id,
        later.tier == held.tier,
        later.step.in_(("approved", "rejected", "reversed")),
    )
    question = select(held.bet_id).where(held.jackpot_id == jackpot_id, held.step == "held", ~decided).limit(1)
    return session.scalar(question) is not None
