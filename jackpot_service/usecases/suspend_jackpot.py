"""Closing a jackpot's door to bets, and opening it again."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life, PersonRequired, facts_of_life
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act


@dataclass(frozen=True, slots=True)
class SetDoor:
    """Who closes or opens the door of which jackpot; the act carries the request id and the reason."""

    act: Act
    jackpot_id: str


@dataclass(frozen=True, slots=True)
class DoorSet:
    """How the jackpot stood after the act, and whether this call only repeats an earlier one."""

    jackpot_id: str
    life: Life
    is_replay: bool


def suspend_jackpot(session: Session, command: SetDoor) -> DoorSet:
    """
    Refuse a jackpot's bets from now on: once this is committed none is accepted. All else goes on.

    One operator does it, a machine too: it costs nobody money, and an alarm must not wait for a person. Of a jackpot
    that is suspended the act is recorded, and changes nothing.

    Raises: UnknownJackpot, JackpotRetired, RequestConflict.
    """
    return _set(session, command, EntryKind.JACKPOT_SUSPENDED, Life.SUSPENDED)


def resume_jackpot(session: Session, command: SetDoor) -> DoorSet:
    """
    Take a jackpot's bets again. One operator does it, and a person: why it was suspended is for somebody to judge.

    Raises: PersonRequired, UnknownJackpot, JackpotRetired, RequestConflict.
    """
    if command.act.principal.is_machine:
        message = f"{command.act.principal.name} is a machine: it may suspend a jackpot, and a person resumes it."
        raise PersonRequired(message)
    return _set(session, command, EntryKind.JACKPOT_RESUMED, Life.OPEN)


def _set(session: Session, command: SetDoor, kind: EntryKind, life: Life) -> DoorSet:
    act, asked = command.act, {"jackpot_id": command.jackpot_id, "reason": command.act.reason}
    acts.lock(session)
    if acts.find_replay(session, act, kind, asked) is not None:
        return DoorSet(command.jackpot_id, life, is_replay=True)
    jackpot = jackpot_acts.hold_unretired(session, command.jackpot_id)
    recorded = facts_of_life(life, positions=jackpot.books.positions)
    effects = []
    if jackpot.life is not life:
        effects.append(
            jackpot_acts.book(
                session,
                act,
                jackpot,
                kind,
                act_seq=acts.next_seq(session),
                not_before=jackpot_acts.booking_time(session, act, [jackpot]),
                recorded=recorded,
                accepting=life is Life.OPEN,
            )
        )
    acts.post(
        session,
        act,
        kind,
        subject=f"jackpot {command.jackpot_id}",
        before={"state": jackpot.life.value},
        after=recorded,
        asked=asked,
        jackpot_id=command.jackpot_id,
        effects=effects,
    )
    return DoorSet(command.jackpot_id, life, is_replay=False)
