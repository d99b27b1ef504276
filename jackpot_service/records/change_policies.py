"""The versions of the change policy, which say who asks for each kind of change and who decides it."""

from typing import Any

from sqlalchemy import Row, Select, insert, select
from sqlalchemy.dialects.postgresql import distinct_on

from jackpot_service.database.models import ChangePolicyRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import ChangePolicy, KindPolicy
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.principals import Role


class UnknownPolicy(NotFound, code="change-policy-unknown", title="Unknown change policy"):
    """No version of the change policy has this number."""


def in_force(session: Session) -> ChangePolicy:
    """
    Return the policy in force: of each kind of change what its latest version says.

    A kind that came with a later release than the latest version is as that release was shipped.
    """
    return _policy(session, select(ChangePolicyRow.__table__))


def policy_of_version(session: Session, number: int) -> ChangePolicy:
    """Return a version of the policy. Raises: UnknownPolicy."""
    policy = _policy(session, select(ChangePolicyRow.__table__).where(ChangePolicyRow.version <= number))
    if policy.version != number:
        message = f"The change policy has no version {number}."
        raise UnknownPolicy(message, version=number)
    return policy


def _policy(session: Session, question: Select[*tuple[Any, ...]]) -> ChangePolicy:
    """Put together what the latest of some rows say of each kind of change."""
    latest = question.ext(distinct_on(ChangePolicyRow.kind)).order_by(
        ChangePolicyRow.kind, ChangePolicyRow.version.desc()
    )
    rows = session.execute(latest).all()
    return ChangePolicy(max(row.version for row in rows), {row.kind: kind_policy(row) for row in rows})


def kind_policy(row: Row[Any]) -> KindPolicy:
    """Read what a row says of its kind of change. Raises: ValueError for a role that there is not."""
    return KindPolicy(
        frozenset(map(Role, row.requested_by)),
        frozenset(map(Role, row.decided_by)),
        needs_other_department=row.needs_other_department,
        needs_other_role=row.needs_other_role,
        needs_passkey=row.needs_passkey,
    )


def add(session: Session, policy: ChangePolicy, *, entry_seq: int) -> None:
    """Write a version, which says something of each kind of change."""
    session.execute(
        insert(ChangePolicyRow),
        [
            {"kind": kind, "version": policy.version, "entry_seq": entry_seq, **kind_rules.facts}
            for kind, kind_rules in sorted(policy.kinds.items())
        ],
    )
