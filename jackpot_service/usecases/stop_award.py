"""Stopping the payment of an award: one person suffices. Two people release it, or a correction takes it back."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain import figures, held_awards
from jackpot_service.domain.awards import AwardStep, require_stoppable
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import awards as records
from jackpot_service.records import rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.round_terms import sheet_of


@dataclass(frozen=True, slots=True)
class StopAward:
    """The award whose payment is stopped. The act carries the request id and the reason."""

    act: Act
    award_id: str


@dataclass(frozen=True, slots=True)
class AwardStopped:
    """The award as it is now, and whether this call repeats an earlier one."""

    record: AwardRecord
    is_replay: bool


def stop_award(session: Session, command: StopAward) -> AwardStopped:
    """
    Stop the payment of a payable award, or of its rest. No money moves: the casino keeps it, and must not pay.

    Raises: UserRequired; UnknownAward, also for another casino's; RequestConflict; AwardStateConflict for an award that
    is not payable, or was released before.
    """
    acts.lock(session)
    act = command.act
    acts.require_user(act)
    record = records.visible(session, act.principal, command.award_id)
    request = {"award_id": command.award_id, "reason": act.reason}
    if acts.find_replay(session, act, EntryKind.AWARD_STOPPED, request) is not None:
        return AwardStopped(record, is_replay=True)
    require_stoppable(record.award.state, taken=record.award.steps, award_id=command.award_id)
    round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
    made = records.made(record.award)
    rest = held_awards.rest_of(made, paid_minor=record.award.paid_minor, sheet=sheet_of(session, round_))
    made_on = records.made_on(session, record.jackpot_id, record.round_key)
    done = Done(
        EntryKind.AWARD_STOPPED,
        {"state": record.award.state.value},
        held_awards.facts_of_step(record, AwardStep.STOPPED, [made]),
        figures=figures.figures_of_decision(AwardStep.STOPPED, [rest], made_on=made_on),
        attributed_to=Attribution.of(round_),
    )
    subject = f"award {command.award_id}"
    act_seq, _ = acts.book(session, act, done, book=record.jackpot_id, subject=subject, request=request)
    records.take_step(
        session,
        AwardStep.STOPPED,
        [made.key],
        jackpot_id=record.jackpot_id,
        round_key=record.round_key,
        taken_at=act.now,
        act_seq=act_seq,
    )
    return AwardStopped(records.visible(session, act.principal, command.award_id), is_replay=False)
