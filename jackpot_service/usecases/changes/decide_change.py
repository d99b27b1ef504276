"""Deciding a change request: another person approves it, and it is done in the same transaction; or rejects it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jackpot_service.database.transactions import Session
from jackpot_service.domain import changes, facts
from jackpot_service.domain.changes import Change, Decision, Outcome
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rounds import Round
from jackpot_service.records import changes as records
from jackpot_service.records import emergency_switches
from jackpot_service.usecases import acts, key_makers
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Conditions
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.request_change import find, require_role


class EmergencyOff(Forbidden):
    """One person alone may not act: the installation has not switched that on."""

    code = "emergency-off"
    title = "The emergency path is switched off"


@dataclass(frozen=True, slots=True)
class DecideChange:
    """
    What a checker makes of a change request.

    `confirmed` repeats the figures that have to be. `is_emergency` says that the maker approves alone, which a switch
    in the database must let.
    """

    act: Act
    request_id: str
    outcome: Outcome
    confirmed: Mapping[str, str] = field(default_factory=dict)
    is_emergency: bool = False


@dataclass(frozen=True, slots=True)
class ChangeDecidedNow:
    """The decided change request, and what was done; None for a rejection, and where this call repeats an earlier."""

    change: Change
    applied: Applied | None
    is_replay: bool


def decide_change(session: Session, command: DecideChange) -> ChangeDecidedNow:
    """
    Approve or reject a change request; the same decision by the same person again changes nothing.

    Of several who decide at once one does, and the others are told.

    Raises: UnknownChange; KindForbidden; ChangeDecided; ChangeExpired; MachineApproval; SamePerson; EmergencyOff;
    ChangeStale; ConfirmationRequired; KeyMaker; whatever the change itself is refused by.
    """
    acts.lock(session)
    change = find(session, command.request_id)
    kind = KINDS[change.kind]
    require_role(command.act, kind)
    if _is_replay(change, command):
        return ChangeDecidedNow(change, None, is_replay=True)
    changes.require_decidable(change, at=command.act.now)
    _require_another_person(session, change, command)
    decision = Decision(
        command.outcome,
        command.act.principal.name,
        command.act.reason,
        command.confirmed,
        command.is_emergency,
        command.act.now,
    )
    if command.outcome is Outcome.REJECTED:
        _record(session, command, change, decision)
        return ChangeDecidedNow(replace(change, decision=decision), None, is_replay=False)
    parsed = kind.complete(
        kind.read(change.payload), Conditions(acts.booking_time(session, command.act), change.request_id)
    )
    changes.require_base_version(change.base_version, kind.version(session, parsed))
    changes.require_confirmed(change, command.confirmed)
    _require_no_key_maker(session, command, kind.releases(session, parsed))
    _record(session, command, change, decision)
    applied = kind.apply(session, replace(command.act, request_id=None, decides=change.request_id), parsed)
    return ChangeDecidedNow(replace(change, decision=decision), applied, is_replay=False)


def _is_replay(change: Change, command: DecideChange) -> bool:
    found = change.decision
    return found is not None and (
        (found.outcome, found.checker, found.reason, dict(found.confirmed), found.is_emergency)
        == (
            command.outcome,
            command.act.principal.name,
            command.act.reason,
            dict(command.confirmed),
            command.is_emergency,
        )
    )


def _require_another_person(session: Session, change: Change, command: DecideChange) -> None:
    """Raises: MachineApproval, SamePerson, EmergencyOff."""
    if command.is_emergency and not emergency_switches.is_on(session):
        message = "Emergency approvals are switched off (jackpot db emergency): another person must approve."
        raise EmergencyOff(message)
    changes.require_checker(change, command.act.principal, is_emergency=command.is_emergency)


def _require_no_key_maker(session: Session, command: DecideChange, round_: Round | None) -> None:
    """Raises: KeyMaker, in an emergency too."""
    if round_ is not None:
        key_makers.require_another(session, command.act, jackpot_id=round_.jackpot_id, round_key=round_.round_key)


def _record(session: Session, command: DecideChange, change: Change, decision: Decision) -> None:
    is_approval = decision.outcome is Outcome.APPROVED
    seq = acts.post(
        session,
        replace(command.act, request_id=None, decides=change.request_id),
        EntryKind.CHANGE_APPROVED if is_approval else EntryKind.CHANGE_REJECTED,
        subject=change.subject,
        before={"state": "pending"},
        after=facts.of_decision(
            request_id=change.request_id,
            outcome=decision.outcome.value,
            confirmed=decision.confirmed,
            is_emergency=decision.is_emergency,
        ),
        jackpot_id=change.jackpot_id,
    )
    records.add_decision(session, change, decision, entry_seq=seq)
