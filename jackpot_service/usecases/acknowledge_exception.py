"""Acknowledging an exception: somebody looked into it, and says what came of it."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.errors import Conflict, Forbidden, NotFound
from jackpot_service.domain.exceptions import PRIZE_DENIED, NotedException
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import acts as act_records
from jackpot_service.records import exceptions, noted_exceptions
from jackpot_service.records.acts import RecordedAct
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


class UnknownException(NotFound, code="exception-unknown", title="Unknown exception"):
    """No exception of this id, or not for this caller, or its round has ended since."""


class ExceptionAcknowledged(Conflict, code="exception-acknowledged", title="The exception was acknowledged"):
    """Somebody acknowledged the exception before."""


class AcknowledgerForbidden(Forbidden, code="role-forbidden"):
    """Exceptions are acknowledged by the house's own operators and finance, not by a casino's."""


class TwoPeopleRequired(Forbidden, code="two-people-required", title="Two people must decide"):
    """A denied prize is compensated, or compensation is declined, by a change request that another person approves."""


@dataclass(frozen=True, slots=True)
class AcknowledgeException:
    """
    Which exception somebody looked into. The act carries the request id, and as its reason what came of it.

    A round that is open is an exception if it was opened before `opened_before`.
    """

    act: Act
    exception_id: str
    opened_before: datetime


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The act that acknowledged an exception (its `before` is the exception), its count now, and whether it repeats."""

    act: RecordedAct
    count: int
    is_replay: bool


def acknowledge_exception(session: Session, command: AcknowledgeException) -> Acknowledged:
    """
    Record that an exception was looked into, by whom and with what result; once for each.

    Raises: AcknowledgerForbidden; RequestConflict; UnknownException; ExceptionAcknowledged; TwoPeopleRequired for a
    denied prize.
    """
    _require_role(command.act.principal)
    acts.lock(session)
    request = {"exception_id": command.exception_id, "reason": command.act.reason}
    replayed = acts.find_replay(session, command.act, EntryKind.EXCEPTION_ACKNOWLEDGED, request)
    if replayed is not None:
        return Acknowledged(replayed, exceptions.counted(session, command.exception_id), is_replay=True)
    exception = _visible(session, command)
    _require_house(command.act.principal)
    if exception.acknowledgement is not None:
        message = f"{exception.acknowledgement.principal} acknowledged it before: {exception.acknowledgement.reason}"
        raise ExceptionAcknowledged(message, exception_id=exception.exception_id)
    if exception.kind == PRIZE_DENIED:
        message = "Request a compensation or a declined-compensation for its bet, which another person approves."
        raise TwoPeopleRequired(message, exception_id=exception.exception_id)
    seq = acts.record(
        session,
        command.act,
        EntryKind.EXCEPTION_ACKNOWLEDGED,
        subject=f"exception {exception.exception_id}",
        before=facts.facts_of_exception(exception),
        after=facts.facts_of_acknowledgement(exception.exception_id),
        request=request,
        jackpot_id=exception.jackpot_id,
    )
    exceptions.acknowledge(session, exception.exception_id, entry_seq=seq)
    return Acknowledged(act_records.by_seq(session, seq), exception.count, is_replay=False)


def _visible(session: Session, command: AcknowledgeException) -> NotedException:
    exception = noted_exceptions.find(session, command.exception_id, opened_before=command.opened_before)
    if exception is None or not exception.is_shown_to(command.act.principal):
        message = f"There is no exception {command.exception_id}."
        raise UnknownException(message, exception_id=command.exception_id)
    return exception


def _require_role(principal: Principal) -> None:
    if principal.role not in {Role.FINANCE, Role.OPERATOR}:
        message = f"A key of role {principal.role} may not acknowledge exceptions, but one of: finance, operator."
        raise AcknowledgerForbidden(message, role=str(principal.role))


def _require_house(principal: Principal) -> None:
    if principal.casino_id is not None:
        message = f"Exceptions are acknowledged by the house, not by casino {principal.casino_id}."
        raise AcknowledgerForbidden(message, role=str(principal.role))
