"""The audit trail: every administrative act, the latest first, with who, when, why, before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_

from jackpot_service.database.models import ActRow, ChangeDecisionRow, EntryRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.exceptions import NotedException
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.records import acts, noted_exceptions
from jackpot_service.records.acts import RecordedAct
from jackpot_service.records.noted_exceptions import Wanted

SECRETS = frozenset({"secret_hash"})
"""What acts record and nobody is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActQuery:
    """
    Which acts to list; None asks for all. The period, by booking time, does not include its end.

    `request_id` finds an act by the caller's id of it, and whatever decided or carried out the change request of this
    id.
    """

    principal: str | None = None
    kind: EntryKind | None = None
    jackpot_id: str | None = None
    request_id: str | None = None
    booked_from: datetime | None = None
    booked_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditedAct:
    """An act, and whether it goes back to a change that one person approved alone."""

    act: RecordedAct
    is_emergency: bool


def latest_acts(session: Session, wanted: ActQuery, *, limit: int, before: int | None = None) -> list[AuditedAct]:
    """
    List acts, the latest first: those before one.

    Acts are numbered in the order of their commits without a gap, so a page lacks none that was late.
    """
    emergency = and_(ChangeDecisionRow.request_id == ActRow.decides, ChangeDecisionRow.is_emergency)
    question = (
        acts.recorded_acts()
        .add_columns(ChangeDecisionRow.request_id.is_not(None))
        .join(ChangeDecisionRow, emergency, isouter=True)
        .where(*_conditions(session, wanted))
        .order_by(ActRow.seq.desc())
        .limit(limit)
    )
    if before is not None:
        question = question.where(ActRow.seq < before)
    return [AuditedAct(RecordedAct(*recorded), is_emergency) for *recorded, is_emergency in session.execute(question)]


def _conditions(session: Session, wanted: ActQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.principal is not None:
        conditions.append(EntryRow.principal == wanted.principal)
    if wanted.kind is not None:
        conditions.append(EntryRow.kind == wanted.kind.value)
    if wanted.jackpot_id is not None:
        conditions.append(ActRow.jackpot_id == wanted.jackpot_id)
    if wanted.request_id is not None:
        conditions.append(or_(ActRow.request_id == wanted.request_id, ActRow.decides == wanted.request_id))
    if wanted.booked_from is not None:
        conditions.append(ActRow.seq >= acts.first_seq_at(session, wanted.booked_from))
    if wanted.booked_to is not None:
        conditions.append(ActRow.seq < acts.first_seq_at(session, wanted.booked_to))
    return conditions


def shown(audited: AuditedAct) -> dict[str, Any]:
    """Write an act as every door shows it, without what is secret."""
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
    wanted: Wanted,
    *,
    opened_before: datetime,
    limit: int,
    before: str | None = None,
) -> Sequence[NotedException]:
    """List the exceptions that a principal may see; `opened_before` says which open rounds are among them."""
    if principal.casino_id is not None:
        if wanted.casino_id not in {None, principal.casino_id}:
            return ()
        wanted = replace(wanted, casino_id=principal.casino_id)
    return noted_exceptions.latest(session, wanted, opened_before=opened_before, limit=limit, before=before)
