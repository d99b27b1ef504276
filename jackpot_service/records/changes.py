"""Change requests with their decisions, and whether one person alone may decide in an emergency."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, and_, func, insert, or_, select

from jackpot_service.database.models import ChangeDecisionRow, ChangeRequestRow, EmergencySwitchRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import RETIREMENT, Change, ChangeState, Decision, Outcome
from jackpot_service.domain.passkeys import SignedApproval

DECIDED: Final = and_(ChangeDecisionRow.request_id == ChangeRequestRow.request_id, ChangeDecisionRow.is_final)
"""Joins to a change request the decision that ended it. There may be others, which waited for more approvals."""


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
            approvals_due=change.approvals_due,
            entry_seq=entry_seq,
        )
    )


def add_decision(session: Session, change: Change, decision: Decision, *, entry_seq: int) -> None:
    """Write a decision on a change request."""
    session.execute(
        insert(ChangeDecisionRow).values(
            request_id=change.request_id,
            maker=change.maker,
            checker=decision.checker,
            outcome=decision.outcome.value,
            reason=decision.reason,
            confirmed=dict(decision.confirmed),
            is_emergency=decision.is_emergency,
            is_final=decision.is_final,
            decided_at=decision.decided_at,
            entry_seq=entry_seq,
            **_signed(decision.assertion),
        )
    )


def _signed(assertion: SignedApproval | None) -> dict[str, Any]:
    if assertion is None:
        return {}
    return {
        "passkey_id": assertion.passkey_id,
        "authenticator_data": assertion.authenticator_data,
        "client_data": assertion.client_data,
        "signature": assertion.signature,
        "signed_effect": assertion.effect,
    }


def assertion_of(row: Any) -> SignedApproval | None:  # noqa: ANN401  a row with the columns of the table
    """Read what a passkey signed a decision with; None if none did."""
    if row.passkey_id is None:
        return None
    return SignedApproval(
        row.passkey_id, row.authenticator_data, row.client_data, row.signature, row.signed_effect or {}
    )


def find(session: Session, request_id: str) -> Change | None:
    """The change request, or None if there is none of this id."""
    rows = session.execute(requests().where(ChangeRequestRow.request_id == request_id)).all()
    return next((change for _, change in with_decisions(session, rows)), None)


def last_approved(session: Session, jackpot_id: str) -> int:
    """The act of the last approval of a change that concerns a jackpot, also as the one that receives; 0 if none."""
    receives = and_(ChangeRequestRow.kind == RETIREMENT, ChangeRequestRow.payload["to"].astext == jackpot_id)
    question = (
        select(func.coalesce(func.max(ChangeDecisionRow.entry_seq), 0))
        .join(ChangeRequestRow, ChangeRequestRow.request_id == ChangeDecisionRow.request_id)
        .where(
            ChangeDecisionRow.outcome == Outcome.APPROVED,
            ChangeDecisionRow.is_final,
            or_(ChangeRequestRow.jackpot_id == jackpot_id, receives),
        )
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
    question = requests().order_by(ChangeRequestRow.entry_seq.desc()).limit(limit)
    if before is not None:
        question = question.where(ChangeRequestRow.entry_seq < before)
    if kind is not None:
        question = question.where(ChangeRequestRow.kind == kind)
    if state is not None:
        question = question.join(ChangeDecisionRow, DECIDED, isouter=True)
    if state in {ChangeState.APPROVED, ChangeState.REJECTED}:
        question = question.where(ChangeDecisionRow.outcome == state)
    elif state is not None:
        is_expired = ChangeRequestRow.expires_at <= at
        question = question.where(
            ChangeDecisionRow.outcome.is_(None), is_expired if state is ChangeState.EXPIRED else ~is_expired
        )
    return with_decisions(session, session.execute(question).all())


def counts(session: Session, *, at: datetime, kind: str | None = None) -> dict[ChangeState, int]:
    """Count the change requests in each state at an instant: all, or those of a kind."""
    is_expired = ChangeRequestRow.expires_at <= at
    question: Select[*tuple[Any, ...]] = (
        select(ChangeDecisionRow.outcome, is_expired, func.count())
        .select_from(ChangeRequestRow)
        .join(ChangeDecisionRow, DECIDED, isouter=True)
        .group_by(ChangeDecisionRow.outcome, is_expired)
    )
    if kind is not None:
        question = question.where(ChangeRequestRow.kind == kind)
    numbers = dict.fromkeys(ChangeState, 0)
    for outcome, has_expired, count in session.execute(question):
        undecided = ChangeState.EXPIRED if has_expired else ChangeState.PENDING
        numbers[undecided if outcome is None else ChangeState(outcome)] += count
    return numbers


def requests() -> Select[*tuple[Any, ...]]:
    """Return the question for all change requests, whose rows `with_decisions` reads."""
    return select(ChangeRequestRow.__table__)


def with_decisions(session: Session, rows: Sequence[Row[*tuple[Any, ...]]]) -> list[tuple[int, Change]]:
    """Read change requests from their rows, each with its act's seq and its decisions."""
    by_request: defaultdict[str, list[Decision]] = defaultdict(list)
    if rows:
        question = select(ChangeDecisionRow.__table__).where(
            ChangeDecisionRow.request_id.in_([row.request_id for row in rows])
        )
        for row in session.execute(question.order_by(ChangeDecisionRow.entry_seq)):
            by_request[row.request_id].append(_decision(row))
    return [(row.entry_seq, _change(row, by_request[row.request_id])) for row in rows]


def _decision(row: Row[*tuple[Any, ...]]) -> Decision:
    return Decision(
        Outcome(row.outcome),
        row.checker,
        row.reason,
        row.confirmed,
        row.is_emergency,
        row.decided_at,
        is_final=row.is_final,
        assertion=assertion_of(row),
    )


def _change(row: Row[*tuple[Any, ...]], decisions: Sequence[Decision]) -> Change:
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
        approvals_due=row.approvals_due,
        decisions=tuple(decisions),
    )


def is_emergency_on(session: Session) -> bool:
    """Return whether emergency approvals are on now."""
    latest = select(EmergencySwitchRow.is_on).order_by(EmergencySwitchRow.entry_seq.desc()).limit(1)
    return bool(session.scalar(latest))


def add_emergency_switch(session: Session, *, is_on: bool, entry_seq: int) -> None:
    """Write the switch; only the owner of the database may."""
    session.execute(insert(EmergencySwitchRow).values(entry_seq=entry_seq, is_on=is_on))
