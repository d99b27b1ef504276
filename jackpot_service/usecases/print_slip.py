"""Printing the slip of an award: the first print gives it the casino's next number, each further one is a duplicate."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.awards import AwardState, AwardStateConflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import awards as records
from jackpot_service.records import slips
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act

PRINTED_IN = frozenset({AwardState.PAYABLE, AwardState.PART_PAID, AwardState.PAID})
"""The states of an award whose slip is printed: none that waits for people, or is not to be paid."""


@dataclass(frozen=True, slots=True)
class PrintSlip:
    """The award whose slip is printed. The act carries the request id."""

    act: Act
    award_id: str


@dataclass(frozen=True, slots=True)
class SlipPrinted:
    """The number of the slip, which copy was printed, and whether this call repeats an earlier one."""

    number: int
    copy: int
    is_replay: bool


def print_slip(session: Session, command: PrintSlip) -> SlipPrinted:
    """
    Record a print of an award's slip.

    Raises: UnknownAward, also for another casino's; RequestConflict; AwardStateConflict.
    """
    acts.lock(session)
    act = command.act
    record = records.visible(session, act.principal, command.award_id)
    request = {"award_id": command.award_id}
    replayed = acts.find_replay(session, act, EntryKind.SLIP_PRINTED, request)
    if replayed is not None:
        return SlipPrinted(**replayed.after["slip"], is_replay=True)
    state = record.award.state
    if state not in PRINTED_IN:
        message = f"Award {command.award_id} is {state}: it has no slip to print."
        raise AwardStateConflict(message, award_id=command.award_id, state=str(state))
    last = slips.last_print(session, record)
    number = slips.next_number(session, record.casino_id) if last is None else last.number
    copy = 1 if last is None else last.copy + 1
    made = records.made(record.award)
    seq = acts.record(
        session,
        act,
        EntryKind.SLIP_PRINTED,
        subject=f"award {command.award_id}",
        after=held_awards.facts_of_slip(record, made, number=number, copy=copy),
        request=request,
    )
    slips.add(session, record, number=number, copy=copy, entry_seq=seq)
    return SlipPrinted(number, copy, is_replay=False)
