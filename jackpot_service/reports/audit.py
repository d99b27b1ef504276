"""
The audit trail: every administrative act, the latest first, with who, when, why, before and after.

Auditors see all of it. Somebody of another role sees what they did themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select

from jackpot_service.database.models import ActRow, CasinoRow, ChangeDecisionRow, ChangeRequestRow, EntryRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import acts, noted_exceptions
from jackpot_service.records.acts import RecordedAct
from jackpot_service.records.noted_exceptions import ExceptionFilters, KindCount

SECRETS = frozenset({"secret_hash"})
"""Fields that acts record and that are never shown."""


class UnknownAct(NotFound, code="act-unknown", title="Unknown act"):
    """There is no act of this number, or not for this caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActQuery:
    """
    A query for acts; None is for all of them. The period, by booking time, does not include its end.

    `subject` is the object of an act as its row names it, such as `casino c1`. `casino_id` finds the acts about a
    casino and its settings, under whatever name each has. `request_id` finds an act by its caller's id, and the acts
    that decided or carried out the change request of this id.
    """

    principal: str | None = None
    kind: EntryKind | None = None
    jackpot_id: str | None = None
    subject: str | None = None
    casino_id: str | None = None
    request_id: str | None = None
    booked_from: datetime | None = None
    booked_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditedAct:
    """An act, and whether it goes back to a change that one person approved alone."""

    act: RecordedAct
    is_emergency: bool


def visible_acts(
    session: Session, principal: Principal, query: ActQuery, *, limit: int, before: int | None = None
) -> Sequence[AuditedAct]:
    """List, as `latest_acts`, the acts that a principal may see."""
    visible = _within_own(query, principal)
    return () if visible is None else latest_acts(session, visible, limit=limit, before=before)


def _within_own(query: ActQuery, principal: Principal) -> ActQuery | None:
    """Narrow a query to the acts of who asks, unless that is an auditor; None if it asks for somebody else's."""
    if principal.role is Role.AUDITOR:
        return query
    return None if query.principal not in {None, principal.name} else replace(query, principal=principal.name)


def visible_act(session: Session, principal: Principal, seq: int) -> AuditedAct:
    """Return the act of a seq. Raises: UnknownAct, also for one that the principal may not see."""
    audited = act_at(session, seq)
    if audited is not None and (principal.role is Role.AUDITOR or audited.act.principal == principal.name):
        return audited
    message = f"There is no act {seq}."
    raise UnknownAct(message, seq=seq)


def act_at(session: Session, seq: int) -> AuditedAct | None:
    """Return the act of a seq, None if there is none; it may not be for everybody to see."""
    return next(
        (each for each in latest_acts(session, ActQuery(), limit=1, before=seq + 1) if each.act.seq == seq), None
    )


def latest_acts(session: Session, query: ActQuery, *, limit: int, before: int | None = None) -> list[AuditedAct]:
    """
    List acts, the latest first: those before one.

    Acts are numbered in the order of their commits without a gap, so a page lacks none that was late.
    """
    # The act after its approval is what an emergency did.
    emergency = and_(
        ChangeDecisionRow.request_id == ActRow.decides,
        ChangeDecisionRow.is_emergency,
        ChangeDecisionRow.entry_seq.in_([ActRow.seq, ActRow.seq - 1]),
    )
    statement = (
        acts.recorded_acts()
        .add_columns(ChangeDecisionRow.request_id.is_not(None))
        .join(ChangeDecisionRow, emergency, isouter=True)
        .where(*_conditions(session, query))
        .order_by(ActRow.seq.desc())
        .limit(limit)
    )
    if before is not None:
        statement = statement.where(ActRow.seq < before)
    return [AuditedAct(RecordedAct(*recorded), is_emergency) for *recorded, is_emergency in session.execute(statement)]


def _conditions(session: Session, query: ActQuery) -> list[ColumnElement[bool]]:
    stated = (
        (EntryRow.principal, query.principal),
        (EntryRow.kind, None if query.kind is None else query.kind.value),
        (ActRow.jackpot_id, query.jackpot_id),
        (ActRow.subject, query.subject),
    )
    conditions: list[ColumnElement[bool]] = [column == value for column, value in stated if value is not None]
    if query.casino_id is not None:
        conditions.append(_is_about_casino(query.casino_id))
    if query.request_id is not None:
        conditions.append(or_(ActRow.request_id == query.request_id, ActRow.decides == query.request_id))
    if query.booked_from is not None:
        conditions.append(ActRow.seq >= acts.first_seq_at(session, query.booked_from))
    if query.booked_to is not None:
        conditions.append(ActRow.seq < acts.first_seq_at(session, query.booked_to))
    return conditions


def _is_about_casino(casino_id: str) -> ColumnElement[bool]:
    """Hold that an act added a casino, or requested, decided or carried out a change that names it."""
    added = select(CasinoRow.entry_seq).where(CasinoRow.casino_id == casino_id)
    changes = select(ChangeRequestRow.request_id).where(ChangeRequestRow.payload["casino_id"].astext == casino_id)
    return or_(ActRow.seq.in_(added), ActRow.request_id.in_(changes), ActRow.decides.in_(changes))


def shown(audited: AuditedAct) -> dict[str, Any]:
    """Write an act as the API and the command line show it, without secrets."""
    act = audited.act
    return {
        "seq": act.seq,
        "kind": act.kind,
        "principal": act.principal,
        "received_at": instant(act.received_at),
        "booked_at": instant(act.booked_at),
        "request_id": act.request_id,
        "decides": act.decides,
        "is_emergency": audited.is_emergency,
        "subject": act.subject,
        "jackpot_id": act.jackpot_id,
        "reason": act.reason,
        "before": _without_secrets(act.before),
        "after": _without_secrets(act.after),
        "effects": _without_secrets(act.effects),
    }


def _without_secrets(document: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(document, dict):
        return {name: _without_secrets(value) for name, value in document.items() if name not in SECRETS}
    if isinstance(document, list):
        return [_without_secrets(value) for value in document]
    return document


def latest_exceptions(
    session: Session,
    principal: Principal,
    query: ExceptionFilters,
    *,
    opened_before: datetime,
    limit: int,
    before: str | None = None,
) -> Sequence[NotedException]:
    """List the exceptions that a principal may see; `opened_before` says which open rounds are among them."""
    seen = _within_casino(query, principal)
    if seen is None:
        return ()
    return noted_exceptions.latest(session, seen, opened_before=opened_before, limit=limit, before=before)


def counted_exceptions(
    session: Session, principal: Principal, query: ExceptionFilters, *, opened_before: datetime
) -> Sequence[KindCount]:
    """Count by kind the exceptions that `latest_exceptions` would list."""
    seen = _within_casino(query, principal)
    return () if seen is None else noted_exceptions.counts(session, seen, opened_before=opened_before)


def _within_casino(query: ExceptionFilters, principal: Principal) -> ExceptionFilters | None:
    """Narrow a query to the casino of the principal; None if it asks for another's."""
    if principal.casino_id is None:
        return query
    return None if query.casino_id not in {None, principal.casino_id} else replace(query, casino_id=principal.casino_id)
