"""
The change policy: for each kind of change who asks, who decides, and whether their departments and roles differ.

Its versions are kept for ever. A request is judged by the version in force when it is made, and a decision by the one
in force when it is taken. Nobody decides an own request.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from jackpot_service.domain.changes import Change
from jackpot_service.domain.errors import Forbidden
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.principals import Principal, Role


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """
    The roles that ask for a kind of change and that decide it, and whether departments and roles must differ.

    With `needs_passkey` every approval is signed by a passkey; without it, those of people who have one.
    """

    requested_by: frozenset[Role]
    decided_by: frozenset[Role]
    needs_other_department: bool = False
    needs_other_role: bool = False
    needs_passkey: bool = False

    @property
    def facts(self) -> Facts:
        """The facts that acts record of it."""
        return {
            "requested_by": sorted(self.requested_by),
            "decided_by": sorted(self.decided_by),
            "needs_other_department": self.needs_other_department,
            "needs_other_role": self.needs_other_role,
            "needs_passkey": self.needs_passkey,
        }

    def is_decider(self, checker: Principal, *, maker: str) -> bool:
        """Whether a role decides. The maker decides in an emergency alone, for which it is enough that they may ask."""
        return is_of_roles(checker, self.requested_by if checker.name == maker else self.decided_by)

    def is_decidable_among(self, people: Collection[Principal], *, with_passkey: Collection[str] = ()) -> bool:
        """
        Whether one of these people may ask, and another one, who is no service account, may decide then.

        Where approvals need a passkey, that other one is among the names of those who have one.
        """
        makers = [person for person in people if is_of_roles(person, self.requested_by)]
        checkers = [
            person
            for person in people
            if person.may_approve
            and is_of_roles(person, self.decided_by)
            and (person.name in with_passkey or not self.needs_passkey)
        ]
        return any(
            maker.name != checker.name and not self.is_too_close(maker, checker)
            for checker in checkers
            for maker in makers
        )

    def is_too_close(self, maker: Principal, checker: Principal) -> bool:
        """Whether another than the checker must decide, since both are of one department, or of one role."""
        of_one_department = self.needs_other_department and checker.department == maker.department
        return of_one_department or (self.needs_other_role and checker.role == maker.role)


HOUSE_DECIDES: Final = KindPolicy(frozenset({Role.OPERATOR}), frozenset({Role.OPERATOR, Role.FINANCE}))
MONEY_BY_HAND: Final = KindPolicy(frozenset({Role.OPERATOR}), frozenset({Role.FINANCE}))
FINANCE_ALONE: Final = KindPolicy(frozenset({Role.FINANCE}), frozenset({Role.FINANCE}))
RATES_ALONE: Final = KindPolicy(frozenset({Role.RATES}), frozenset({Role.RATES}))
OPERATORS_ALONE: Final = KindPolicy(frozenset({Role.OPERATOR}), frozenset({Role.OPERATOR}))
FINANCE_AND_OPERATOR: Final = KindPolicy(
    frozenset({Role.FINANCE, Role.OPERATOR}),
    frozenset({Role.FINANCE, Role.OPERATOR}),
    needs_other_department=True,
    needs_other_role=True,
)


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    """A version of the change policy: what it says of each kind of change, by name."""

    version: int
    kinds: Mapping[str, KindPolicy]

    @property
    def facts(self) -> Facts:
        """The facts that acts record of it."""
        return {
            "version": self.version,
            "kinds": {name: kind_policy.facts for name, kind_policy in sorted(self.kinds.items())},
        }


class KindForbidden(Forbidden, code="role-forbidden"):
    """The key's role may not ask for such a change, or not decide one."""


class SameDepartment(Forbidden, code="same-department", title="Somebody of another department must decide"):
    """Maker and checker are of one department, and the policy asks for two."""


class SameRole(Forbidden, code="same-role", title="Somebody of another role must decide"):
    """Maker and checker are of one role, and the policy asks for two."""


def is_of_roles(principal: Principal, roles: frozenset[Role]) -> bool:
    """Whether a principal is of one of the roles, and of the house: nobody of a casino asks for changes or decides."""
    return principal.casino_id is None and principal.role in roles


def require_of_house(asker: Principal, *, kind: str) -> None:
    """Raises: KindForbidden for everybody of a casino, whatever the policy says."""
    if asker.casino_id is not None:
        raise _forbidden(asker, f"A change of kind {kind} is asked for by the house")


def require_asker(policy: KindPolicy, asker: Principal, *, kind: str) -> None:
    """Raises: KindForbidden for a role that does not ask for such a change, and for everybody of a casino."""
    if not is_of_roles(asker, policy.requested_by):
        raise _forbidden(asker, f"A change of kind {kind} is requested by {_listed(policy.requested_by)}")


def require_decider(policy: KindPolicy, change: Change, checker: Principal) -> None:
    """Raises: KindForbidden for a role that does not decide such a change, and for everybody of a casino."""
    if not policy.is_decider(checker, maker=change.maker):
        raise _forbidden(checker, f"A change of kind {change.kind} is decided by {_listed(policy.decided_by)}")


def require_apart(policy: KindPolicy, maker: Principal, checker: Principal) -> None:
    """
    Hold that departments and roles differ where the policy asks for that; in an emergency they need not.

    Raises: SameDepartment; SameRole.
    """
    if checker.name == maker.name or not policy.is_too_close(maker, checker):
        return
    both = f"{maker.name} and {checker.name} are both of"
    if policy.needs_other_department and checker.department == maker.department:
        message = f"{both} department {maker.department}: another must decide."
        raise SameDepartment(message, department=maker.department)
    message = f"{both} role {maker.role}: another must decide."
    raise SameRole(message, role=str(maker.role))


def _listed(roles: frozenset[Role]) -> str:
    return " or ".join(sorted(roles))


def _forbidden(principal: Principal, message: str) -> KindForbidden:
    bound = "" if principal.casino_id is None else " of a casino"
    return KindForbidden(f"{message}, not by a key of role {principal.role}{bound}.", role=str(principal.role))
