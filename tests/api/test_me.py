"""Each key but a display's can ask whose it is, and which changes its owner may request and decide."""

from typing import Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY
from tests.support.answers import Body
from tests.support.world import World

ME: Final = "/v1/me"


def test_a_table_server_learns_its_casino_and_its_tables(world: World) -> None:
    for table_id in ("T2", "T1"):
        world.add_table(table_id)
    key = world.key_of(Principal("server", Role.TABLE, "c1", frozenset({"T2", "T1"})))

    assert world.get(ME, key=key).ok() == {
        "principal": "server",
        "role": "table",
        "casino_id": "c1",
        "department": "table",
        "table_ids": ["T1", "T2"],
        "is_service_account": True,
        "requests": [],
        "decides": [],
    }


def kinds(*, requested_by: Role | None = None, decided_by: Role | None = None) -> list[str]:
    return sorted(
        name
        for name, kind_policy in SHIPPED_POLICY.items()
        if requested_by in kind_policy.requested_by or decided_by in kind_policy.decided_by
    )


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.FINANCE, Role.RATES])
def test_a_person_learns_which_changes_they_may_request_and_decide(world: World, role: Role) -> None:
    me = world.get(ME, key=world.person("Ann", role)).ok()

    assert (me["principal"], me["role"], me["casino_id"]) == ("Ann", role.value, None)
    assert me["requests"] == kinds(requested_by=role)
    assert me["decides"] == kinds(decided_by=role)
    assert me["decides"] != []


def test_nobody_of_a_casino_and_no_auditor_has_any_change(world: World) -> None:
    for key in (world.key(Role.AUDITOR), world.key(Role.FINANCE, casino_id="c1")):
        me = world.get(ME, key=key).ok()
        assert (me["requests"], me["decides"]) == ([], [])


def test_a_service_account_requests_and_decides_nothing(world: World) -> None:
    me = world.get(ME, key=world.key_of(Principal("robot", Role.RATES, is_automaton=True))).ok()

    assert (me["is_service_account"], me["requests"], me["decides"]) == (True, ["rate-sheet"], [])


def test_another_policy_is_seen_at_once(world: World) -> None:
    key = world.person("Fay", Role.FINANCE)
    assert "rules" not in world.get(ME, key=key).ok()["requests"]

    policy: Body = {"kinds": {"rules": {"requested_by": ["finance"], "decided_by": ["operator"]}}}
    world.change("change-policy", policy)

    me = world.get(ME, key=key).ok()
    assert "rules" in me["requests"]
    assert "rules" not in me["decides"]


def test_without_a_key_and_with_a_query_nothing_is_shown(world: World) -> None:
    world.call("GET", ME, key=None).problem(401, "unauthenticated")
    world.get(f"{ME}?x=1").problem(422, "validation")
    assert world.get(ME).headers["Cache-Control"] == "no-store"
