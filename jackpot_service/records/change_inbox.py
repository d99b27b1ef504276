"""The change requests of somebody: those that wait for their decision, their own; and those of all, by kind."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, false, func, or_, select

from jackpot_service.database.models import ChangeDecisionRow, ChangeRequestRow, PrincipalRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import ChangePolicy, KindPolicy, is_of_roles
from jackpot_service.domain.changes import Change
from jackpot_service.domain.principals import Principal
from jackpot_service.records.changes import DECIDED, requests, with_decisions


def waiting_for(
    session: Session, person: Principal, policy: ChangePolicy, *, at: datetime, limit: int, before: int | None
) -> Sequence[tuple[int, Change]]:
    """List the requests that somebody may decide at an instant, the latest first: those before an act's seq."""
    question = _joined(requests()).where(_waits_for(person, policy, at=at))
    return _listed(session, question, limit=limit, before=before)


def count_waiting_for(session: Session, person: Principal, policy: ChangePolicy, *, at: datetime) -> int:
    """Count what `waiting_for` lists."""
    question = _joined(select(func.count()).select_from(ChangeRequestRow)).where(_waits_for(person, policy, at=at))
    return session.scalar(question) or 0


def made_by(session: Session, maker: str, *, limit: int, before: int | None) -> Sequence[tuple[int, Change]]:
    """List the requests of somebody, the latest first: those before an act's seq."""
    return _listed(session, requests().where(ChangeRequestRow.maker == maker), limit=limit, before=before)


def all_of(
    session: Session, kinds: Collection[str], *, at: datetime, is_over: bool, limit: int, before: int | None
) -> Sequence[tuple[int, Change]]:
    """List the requests of some kinds that wait at an instant, or that are decided or expired, the latest first."""
    pending = and_(ChangeDecisionRow.outcome.is_(None), ChangeRequestRow.expires_at > at)
    question = (
        requests()
        .join(ChangeDecisionRow, DECIDED, isouter=True)
        .where(ChangeRequestRow.kind.in_(sorted(kinds)), ~pending if is_over else pending)
    )
    return _listed(session, question, limit=limit, before=before)


def pending_of_round(
    session: Session, kind: str, *, jackpot_id: str, table_id: str, round_id: str, at: datetime
) -> Sequence[Change]:
    """List the requests of a kind about a round that wait at an instant, with the approvals that they have."""
    question = (
        requests()
        .join(ChangeDecisionRow, DECIDED, isouter=True)
        .where(
            ChangeRequestRow.kind == kind,
            ChangeRequestRow.jackpot_id == jackpot_id,
            ChangeRequestRow.payload["table_id"].astext == table_id,
            ChangeRequestRow.payload["round_id"].astext == round_id,
            ChangeDecisionRow.outcome.is_(None),
            ChangeRequestRow.expires_at > at,
        )
        .order_by(ChangeRequestRow.entry_seq)
    )
    return [change for _, change in with_decisions(session, session.execute(question).all())]


def _joined(question: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return question.join(PrincipalRow, PrincipalRow.name == ChangeRequestRow.maker).join(
        ChangeDecisionRow, DECIDED, isouter=True
    )


def _waits_for(person: Principal, policy: ChangePolicy, *, at: datetime) -> ColumnElement[bool]:
    """Say in SQL what `require_may_decide` looks at, for an approval that is no emergency."""
    decided = {
        kind: kind_policy
        for kind, kind_policy in policy.kinds.items()
        if person.may_approve and is_of_roles(person, kind_policy.decided_by)
    }
    approved_before = select(ChangeDecisionRow.request_id).where(ChangeDecisionRow.checker == person.name)
    return and_(
        ChangeDecisionRow.outcome.is_(None),
        ChangeRequestRow.expires_at > at,
        ChangeRequestRow.maker != person.name,
        ChangeRequestRow.request_id.not_in(approved_before),
        or_(false(), *(_is_of_kind(kind, kind_policy, person) for kind, kind_policy in sorted(decided.items()))),
    )


def _is_of_kind(kind: str, policy: KindPolicy, person: Principal) -> ColumnElement[bool]:
    conditions = [ChangeRequestRow.kind == kind]
    if policy.needs_other_department:
        conditions.append(PrincipalRow.department != person.department)
    if policy.needs_other_role:
        conditions.append(PrincipalRow.role != person.role.value)
    return and_(*conditions)


def _listed(
    session: Session, question: Select[*tuple[Any, ...]], *, limit: int, before: int | None
) -> Sequence[tuple[int, Change]]:
    question = question.order_by(ChangeRequestRow.entry_seq.desc()).limit(limit)
    if before is not None:
        question = question.where(ChangeRequestRow.entry_seq < before)
    return with_decisions(session, session.execute(question).all())
