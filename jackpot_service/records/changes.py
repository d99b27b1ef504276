"""Change requests with their decisions, and whether one person alone may decide in an emergency."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, or_, select

from jackpot_service.database.models import ChangeDecisionRow, ChangeRequestRow, EmergencySwitchRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import RETIREMENT, Change, ChangeState, Decision, Outcome


def add(session: Session, change: Change, *, entry_seq: int) -> None:
    """Write a change request."""
    session.execute(
        insert(ChangeRequestRow).values(
            request_id=change.request_id,
            kind=change.kind,
            subject=change.subject,
            jackpot_id=change.jackpot_id,
            payload=dict(change.payload),
            reason=change.reason,
            base_version=change.base_version,
            to_confirm=dict(change.to_confirm),
            maker=change.maker,
            made_at=change.made_at,
            expires_at=change.expires_at,
            entry_seq=entry_seq,
        )
    )


def add_decision(session: Session, change: Change, decision: Decision, *, entry_seq: int) -> None:
    """Write what became of a change request."""
    session.execute(
        insert(ChangeDecisionRow).values(
            request_id=change.request_id,
            maker=change.maker,
            checker=decision.checker,
            outcome=decision.outcome.value,
            reason=decision.reason,
            confirmed=dict(decision.confirmed),
            is_emergency=decision.is_emergency,
            decided_at=decision.decided_at,
            entry_seq=entry_seq,
        )
    )


def find(session: Session, request_id: str) -> Change | None:
    """The change request, or None if there is none of this id."""
    row = session.execute(_select().where(ChangeRequestRow.request_id == request_id)).one_or_none()
    return None if row is None else _change(row)


def last_approved(session: Session, jackpot_id: str) -> int:
    """The act of the last approval of a change that concerns a jackpot, also as the one that receives; 0 if none."""
    receives = and_(ChangeRequestRow.kind == RETIREMENT, ChangeRequestRow.payload["to"].astext == jackpot_id)
    question = (
        select(func.coalesce(func.max(ChangeDecisionRow.entry_seq), 0))
        .join(ChangeRequestRow, ChangeRequestRow.request_id == ChangeDecisionRow.request_id)
        .where(ChangeDecisionRow.outcome == Outcome.APPROVED, or_(ChangeRequestRow.jackpot_id == jackpot_id, receives))
    )
    return session.scalar(question) or 0


def latest(
    session: Session,
    *,
    limit: int,
    before: int | None,
    at: datetime,
    state: ChangeState | None = None,
    kind: str | None = None,
) -> Sequence[tuple[int, Change]]:
    """List change requests, the latest first, each with its act's seq: those before one, in a state at an instant."""
    question = _select().order_by(ChangeRequestRow.entry_seq.desc()).limit(limit)
    if before is not None:
        question = question.where(ChangeRequestRow.entry_seq < before)
    if kind is not None:
        question = question.where(ChangeRequestRow.kind == kind)
    if state in {ChangeState.APPROVED, ChangeState.REJECTED}:
        question = question.where(ChangeDecisionRow.outcome == state)
    elif state is not None:
        is_expired = ChangeRequestRow.expires_at <= at
        question = question.where(
            ChangeDecisionRow.outcome.is_(None), is_expired if state is ChangeState.EXPIRED else ~is_expired
        )
    return [(row.entry_seq, _change(row)) for row in session.execute(question)]


def _select() -> Select[*tuple[Any, ...]]:
    decided = ChangeDecisionRow.request_id == ChangeRequestRow.request_id
    return select(
        ChangeRequestRow.__table__,
        ChangeDecisionRow.outcome,
        ChangeDecisionRow.checker,
        ChangeDecisionRow.reason.label("decision_reason"),
        ChangeDecisionRow.confirmed,
        ChangeDecisionRow.is_emergency,
        ChangeDecisionRow.decided_at,
    ).join(ChangeDecisionRow, decided, isouter=True)


def _change(row: Row[*tuple[Any, ...]]) -> Change:
    decision = None
    if row.outcome is not None:
        decision = Decision(
            Outcome(row.outcome), row.checker, row.decision_reason, row.confirmed, row.is_emergency, row.decided_at
        )
    return Change(
        request_id=row.request_id,
        kind=row.kind,
        subject=row.subject,
        jackpot_id=row.jackpot_id,
        payload=row.payload,
        reason=row.reason,
        base_version=row.base_version,
        to_confirm=row.to_confirm,
        maker=row.maker,
        made_at=row.made_at,
        expires_at=row.expires_at,
        decision=decision,
    )


def is_emergency_on(session: Session) -> bool:
    """Return whether emergency approvals are on now."""
    latest = select(EmergencySwitchRow.is_on).order_by(EmergencySwitchRow.entry_seq.desc()).limit(1)
    return bool(session.scalar(latest))


def add_emergency_switch(session: Session, *, is_on: bool, entry_seq: int) -> None:
    """Write the switch; only the owner of the database may."""
    session.execute(insert(EmergencySwitchRow).values(entry_seq=entry_seq, is_on=is_on))
