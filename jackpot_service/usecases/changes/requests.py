"""Change requests: recorded when asked for, and done only when another person approves them, in one transaction."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import change_policy, changes, facts
from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.domain.changes import LIFETIME, Change, Decision, Outcome
from jackpot_service.domain.errors import BooksBroken, Forbidden, LedgerError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rates import DEFAULT_BAND
from jackpot_service.domain.rounds import Round
from jackpot_service.records import acts as recorded_acts
from jackpot_service.records import change_policies
from jackpot_service.records import changes as records
from jackpot_service.records import keys as people
from jackpot_service.usecases import acts, keys
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import effects, signed_approvals
from jackpot_service.usecases.changes.effects import ChangeEffect, LookedAt
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Kind
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.signed_approvals import NOTHING_SHOWN, Shown


@dataclass(frozen=True, slots=True)
class RequestChange:
    """
    A change to request. The act carries the request id and the reason.

    `base_version` is the state that the maker saw; None for the one that there is. `rate_band` is a setting of the
    installation: how far a rate may move before its approver must repeat it.
    """

    act: Act
    kind: str
    payload: Mapping[str, Any]
    base_version: str | None = None
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class ChangeRequested:
    """The change request; what approving it now would do, unless this call repeats an earlier one."""

    change: Change
    effect: ChangeEffect | None
    is_replay: bool


def request_change(session: Session, command: RequestChange) -> ChangeRequested:
    """
    Record a change request, after trying it: what could not be done is refused now, not at its approval.

    Raises: KindForbidden; RequestConflict; BadPayload; ChangeStale; whatever the change itself is refused by.
    """
    change_policy.require_of_house(command.act.principal, kind=command.kind)
    acts.lock(session)
    if not _is_repeated(session, command.act):  # The policy may say something else by now: the request is there.
        change_policy.require_asker(policy_of(session, command.kind), command.act.principal, kind=command.kind)
    requested = KINDS[command.kind].read(command.payload)
    replayed = acts.find_replay(session, command.act, EntryKind.CHANGE_REQUESTED, _request_of(command))
    if replayed is not None:
        return ChangeRequested(find(session, replayed.after["request_id"]), None, is_replay=True)
    request = requested.completed(_conditions(session, command))
    version = request.version(session)
    if command.base_version is not None:
        changes.require_base_version(command.base_version, version)
    looked_at = LookedAt(requested, request, requested.currency_of_amounts(session))
    tried = _tried(session, replace(command.act, request_id=None, decides=command.act.request_id), request)
    effect = effects.waiting(session, looked_at, tried, at=command.act.now)
    change = _change(session, command, request, version)
    seq = acts.record(
        session,
        command.act,
        EntryKind.CHANGE_REQUESTED,
        subject=change.subject,
        after=facts.facts_of_change(
            request_id=change.request_id,
            kind=change.kind,
            payload=change.payload,
            base_version=change.base_version,
            to_confirm=change.to_confirm,
            approvals_due=change.approvals_due,
            expires_at=change.expires_at,
        ),
        request=_request_of(command),
        jackpot_id=change.jackpot_id,
    )
    records.add(session, change, entry_seq=seq)
    return ChangeRequested(change, effect, is_replay=False)


def _conditions(session: Session, command: RequestChange) -> Conditions:
    return Conditions(acts.booking_time(session, command.act), command.act.request_id or "", command.rate_band)


def _is_repeated(session: Session, act: Act) -> bool:
    recorded = None if act.request_id is None else recorded_acts.by_request(session, act.request_id)
    return recorded is not None and recorded.principal == act.principal.name


def policy_of(session: Session, kind: str) -> KindPolicy:
    """Return what the policy in force says of a kind of change; with the lock held it stays so."""
    return change_policies.in_force(session).kinds[kind]


def find(session: Session, request_id: str) -> Change:
    """Raises: UnknownChange."""
    change = records.find(session, request_id)
    if change is None:
        raise _unknown(request_id)
    return change


def visible(session: Session, principal: Principal, request_id: str) -> Change:
    """Find a change request; a casino's people see none of the house's. Raises: UnknownChange."""
    _require_of_house(principal, request_id)
    return find(session, request_id)


def _require_of_house(principal: Principal, request_id: str) -> None:
    """Raises: UnknownChange."""
    if principal.casino_id is not None:
        raise _unknown(request_id)


def _unknown(request_id: str) -> changes.UnknownChange:
    message = f"There is no change request {request_id}."
    return changes.UnknownChange(message, request_id=request_id)


def _request_of(command: RequestChange) -> Facts:
    return {
        "kind": command.kind,
        "payload": dict(command.payload),
        "reason": command.act.reason,
        "base_version": command.base_version,
    }


def _tried(session: Session, act: Act, request: Kind) -> Applied:
    """Do the change and take it back, so that what it would be refused by is said at once."""
    attempt = session.begin_nested()
    try:
        return request.apply(session, act)
    finally:
        attempt.rollback()


def _change(session: Session, command: RequestChange, request: Kind, version: str) -> Change:
    if command.act.request_id is None or command.act.reason is None:
        message = "A change request has an id and a reason."
        raise ValueError(message)
    return Change(
        request_id=command.act.request_id,
        kind=command.kind,
        subject=request.subject,
        jackpot_id=request.subject_jackpot_id,
        payload=command.payload,
        reason=command.act.reason,
        base_version=version,
        to_confirm=request.to_confirm(session),
        maker=command.act.principal.name,
        made_at=command.act.now,
        expires_at=command.act.now + LIFETIME,
        approvals_due=request.approvals_due(session),
    )


class EmergencyOff(Forbidden, code="emergency-off", title="The emergency path is switched off"):
    """One person alone may not act: the installation has not switched that on."""


@dataclass(frozen=True, slots=True)
class DecideChange:
    """
    A checker's decision on a change request, whose reason the act has.

    `confirm` repeats the figures that have to be. `is_emergency` says that the maker approves alone, which a switch
    in the database must let. `is_dry_run` says that it is only tried: nothing is signed, and no decision stands.
    `shown` is what a passkey has signed.
    """

    act: Act
    request_id: str
    outcome: Outcome
    confirm: Mapping[str, Decimal] = field(default_factory=dict)
    is_emergency: bool = False
    is_dry_run: bool = False
    shown: Shown = NOTHING_SHOWN

    @property
    def confirmed(self) -> Mapping[str, str]:
        """The figures that were repeated, as they are recorded."""
        return {name: plain(figure) for name, figure in self.confirm.items()}


@dataclass(frozen=True, slots=True)
class ChangeDecidedNow:
    """
    The change request as it stands, and what was done, or will be once others have approved it as well.

    `effect` is None for a rejection, and where this call repeats an earlier.
    """

    change: Change
    effect: ChangeEffect | None
    is_replay: bool


def decide_change(session: Session, command: DecideChange) -> ChangeDecidedNow:
    """
    Approve or reject a change request; the same decision by the same person again changes nothing.

    Where several people must approve it, the last of them does it, and those before only say so.

    Of several who decide at once one does, and the others are refused.

    Raises: UnknownChange; KindForbidden; ChangeDecided; ChangeExpired; UserApprovalRequired; SameUser; EmergencyOff;
    SameDepartment; SameRole; ChangeStale; ConfirmationRequired; KeyMaker; PasskeyRequired; BadAssertion; EffectMoved;
    whatever the change itself is refused by.
    """
    _require_of_house(command.act.principal, command.request_id)
    acts.lock(session)
    change = find(session, command.request_id)
    if _is_replay(change, command):
        return ChangeDecidedNow(change, None, is_replay=True)
    require_may_decide(session, change, command)
    decision = _decision(change, command)
    if command.outcome is Outcome.REJECTED:
        return ChangeDecidedNow(_record(session, command, change, decision), None, is_replay=False)
    with _pointing_at_nothing():
        looked_at = effects.look_at(session, change, command.act)
    changes.require_confirmed(change, command.confirm)
    _require_no_key_maker(session, command, looked_at.request.releases(session))
    if not command.is_dry_run:
        assertion = signed_approvals.signed(
            session, command.act, change, command.shown, is_emergency=command.is_emergency
        )
        decision = replace(decision, assertion=assertion)
    with _pointing_at_nothing():
        return _approved(session, command, change, looked_at, decision)


def require_may_decide(session: Session, change: Change, command: DecideChange) -> None:
    """
    Hold that somebody may decide a change request now. It takes no lock, so a page can ask before anybody decides.

    Raises: KindForbidden; ChangeDecided; ChangeExpired; UserApprovalRequired; SameUser; EmergencyOff; SameDepartment;
    SameRole.
    """
    policy = policy_of(session, change.kind)
    change_policy.require_decider(policy, change, command.act.principal)
    changes.require_decidable(change, at=command.act.now)
    _require_another_user(session, change, command)
    change_policy.require_apart(policy, _maker_of(session, change), command.act.principal)


@contextmanager
def _pointing_at_nothing() -> Iterator[None]:
    """Errors of the change itself point into its request: nothing of that is in the body that the approver sent."""
    try:
        yield
    except LedgerError as error:
        error.field_errors = tuple(replace(at, pointer="") for at in error.field_errors)
        raise


def _approved(
    session: Session, command: DecideChange, change: Change, looked_at: LookedAt, decision: Decision
) -> ChangeDecidedNow:
    """Do the change, or try it if others have to approve it as well, or if it is a dry run."""
    act = replace(command.act, request_id=None, decides=change.request_id)
    if command.is_dry_run or not decision.is_final:
        waiting = effects.waiting(session, looked_at, _tried(session, act, looked_at.request), at=act.now)
        if command.is_dry_run:
            return ChangeDecidedNow(change, waiting, is_replay=False)
        signed_approvals.require_as_signed(decision, change, waiting)
        decided = _record(session, command, change, decision)
        return ChangeDecidedNow(decided, waiting, is_replay=False)
    decided = _record(session, command, change, decision)
    applied = looked_at.request.apply(session, act)
    done = effects.done(session, looked_at, applied)
    for approval in (*change.decisions, decision):
        signed_approvals.require_as_signed(approval, change, done)
    return ChangeDecidedNow(decided, done, is_replay=False)


def _decision(change: Change, command: DecideChange) -> Decision:
    if command.act.reason is None:
        message = "A decision on a change request has a reason."
        raise ValueError(message)
    return Decision(
        command.outcome,
        command.act.principal.name,
        command.act.reason,
        command.confirmed,
        command.is_emergency,
        command.act.now,
        is_final=command.outcome is Outcome.REJECTED or command.is_emergency or change.is_last_approval,
    )


def _is_replay(change: Change, command: DecideChange) -> bool:
    stated = (
        command.outcome,
        command.act.principal.name,
        command.act.reason,
        dict(command.confirmed),
        command.is_emergency,
    )
    return any(
        (decision.outcome, decision.checker, decision.reason, dict(decision.confirmed), decision.is_emergency) == stated
        for decision in change.decisions
    )


def _require_another_user(session: Session, change: Change, command: DecideChange) -> None:
    """Raises: UserApprovalRequired, SameUser, EmergencyOff."""
    if command.is_emergency and not records.is_emergency_on(session):
        message = "Emergency approvals are switched off (jackpot db emergency): another user must approve."
        raise EmergencyOff(message)
    changes.require_checker(change, command.act.principal, is_emergency=command.is_emergency)
    if command.outcome is Outcome.APPROVED:
        changes.require_first_approval(change, command.act.principal)


def _maker_of(session: Session, change: Change) -> Principal:
    maker = people.principal(session, change.maker)
    if maker is None:
        message = f"{change.maker}, who asked for {change.request_id}, is no principal."
        raise BooksBroken(message)
    return maker


def _require_no_key_maker(session: Session, command: DecideChange, round_: Round | None) -> None:
    """Raises: KeyMaker, in an emergency too."""
    if round_ is not None:
        keys.require_not_maker(session, command.act, jackpot_id=round_.jackpot_id, round_key=round_.round_key)


def _record(session: Session, command: DecideChange, change: Change, decision: Decision) -> Change:
    """Record a decision; returns the change request with it."""
    is_approval = decision.outcome is Outcome.APPROVED
    seq = acts.record(
        session,
        replace(command.act, request_id=None, decides=change.request_id),
        EntryKind.CHANGE_APPROVED if is_approval else EntryKind.CHANGE_REJECTED,
        subject=change.subject,
        before={"state": "pending"},
        after=facts.facts_of_decision(
            request_id=change.request_id,
            outcome=decision.outcome.value,
            confirmed=decision.confirmed,
            is_emergency=decision.is_emergency,
            is_final=decision.is_final,
            assertion=None if decision.assertion is None else decision.assertion.facts,
        ),
        jackpot_id=change.jackpot_id,
    )
    records.add_decision(session, change, decision, entry_seq=seq)
    return replace(change, decisions=(*change.decisions, decision))


def switch_emergency(session: Session, act: Act, *, is_on: bool) -> bool:
    """Let one person alone approve an own request, or end that. Returns whether that was not so already."""
    acts.lock(session)
    was_on = records.is_emergency_on(session)
    if was_on is is_on:
        return False
    seq = acts.record(
        session,
        act,
        EntryKind.EMERGENCY_SWITCHED,
        subject="emergency approvals",
        before=facts.facts_of_emergency_switch(is_on=was_on),
        after=facts.facts_of_emergency_switch(is_on=is_on),
    )
    records.add_emergency_switch(session, is_on=is_on, entry_seq=seq)
    return True
