"""Who asks for a kind of change and who decides it, as a policy says."""

from dataclasses import replace

import pytest

from jackpot_service.domain.change_policy import (
    FINANCE_AND_OPERATOR,
    MONEY_BY_HAND,
    KindForbidden,
    SameDepartment,
    SameRole,
    require_apart,
    require_asker,
)
from jackpot_service.domain.principals import CHANGE_ROLES, BadPrincipal, Principal, Role, require_possible

ANN, BOB = Principal("Ann", Role.OPERATOR), Principal("Bob", Role.FINANCE)


def test_a_department_has_the_roles_name_unless_it_is_stated() -> None:
    assert (ANN.department, Principal("Ann", Role.OPERATOR, department="cage").department) == ("operator", "cage")


@pytest.mark.parametrize("department", ["Cage", "the cage", " ", "x" * 65, "c\u0430ge"])
def test_a_department_is_written_in_one_way_alone(department: str) -> None:
    with pytest.raises(BadPrincipal, match="small letters"):
        require_possible(Principal("Ann", Role.OPERATOR, department=department))


def test_a_service_account_may_request_and_never_approves() -> None:
    for role in CHANGE_ROLES:
        robot = Principal("robot", role, is_automaton=True)
        assert (robot.may_request, robot.may_approve) == (True, False)


def test_nobody_of_a_casino_and_no_auditor_or_table_may_request_or_approve() -> None:
    ineligible = (
        Principal("Carl", Role.FINANCE, "c1"),
        Principal("Alma", Role.AUDITOR),
        Principal("server", Role.TABLE, "c1"),
    )
    assert not any(principal.may_request or principal.may_approve for principal in ineligible)


def test_who_asks_is_of_a_role_that_the_policy_names_and_of_no_casino() -> None:
    require_asker(FINANCE_AND_OPERATOR, BOB, kind="held-awards")
    with pytest.raises(KindForbidden, match="requested by operator, not by a key of role finance"):
        require_asker(MONEY_BY_HAND, BOB, kind="adjustment")
    with pytest.raises(KindForbidden, match="role finance of a casino"):
        require_asker(FINANCE_AND_OPERATOR, Principal("Carl", Role.FINANCE, "c1"), kind="held-awards")


def test_departments_and_roles_differ_where_the_policy_asks_for_that() -> None:
    colleague, elsewhere = Principal("Bea", Role.OPERATOR), Principal("Cleo", Role.OPERATOR, department="cage")
    lent = Principal("Finn", Role.FINANCE, department="operator")

    require_apart(FINANCE_AND_OPERATOR, ANN, BOB)
    require_apart(replace(FINANCE_AND_OPERATOR, needs_other_role=False), ANN, elsewhere)
    require_apart(replace(FINANCE_AND_OPERATOR, needs_other_department=False), ANN, lent)
    require_apart(MONEY_BY_HAND, ANN, colleague)
    for checker in (colleague, lent):
        with pytest.raises(SameDepartment):
            require_apart(FINANCE_AND_OPERATOR, ANN, checker)
    with pytest.raises(SameRole):
        require_apart(FINANCE_AND_OPERATOR, ANN, elsewhere)
    require_apart(FINANCE_AND_OPERATOR, ANN, ANN)
