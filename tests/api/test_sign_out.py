"""Signing somebody out of the pages over HTTP: everywhere at once, while their keys stay in force."""

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

REASON = {"reason": "a notebook was lost"}


def id_of(key: str) -> str:
    return key.split("_")[1]


def test_all_sessions_of_the_owner_of_a_key_end_and_nobody_elses(world: World) -> None:
    key = world.person("Ann", Role.FINANCE)
    here, there = Visitor(world).sign_in(key=key), Visitor(world).sign_in(key=key)
    somebody_else = Visitor(world).sign_in(Role.AUDITOR)

    answer = world.post(f"/v1/keys/{id_of(key)}/sign-out", REASON, key=world.key(Role.OPERATOR)).ok()

    assert answer == {"principal": "Ann", "sessions": 2}
    assert [visitor.open("/account").status for visitor in (here, there, somebody_else)] == [303, 303, 200]
    world.get("/v1/me", key=key).ok()
    assert here.sign_in(key=key).open("/account").status == 200


def test_somebody_who_has_not_signed_in_is_signed_out_of_nothing(world: World) -> None:
    key = world.key(Role.TABLE)
    answer = world.post(f"/v1/keys/{id_of(key)}/sign-out", REASON, key=world.key(Role.OPERATOR)).ok()
    assert answer["sessions"] == 0


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.OPERATOR}))
def test_operators_alone_do_it(world: World, role: Role) -> None:
    key = world.key_of(Principal("somebody", role, "c1" if role is Role.TABLE else None))
    world.post(f"/v1/keys/{id_of(key)}/sign-out", REASON, key=key).problem(403, "role-forbidden")


def test_a_key_that_there_is_not_and_a_missing_reason_are_refused(world: World) -> None:
    operator = world.key(Role.OPERATOR)
    world.post("/v1/keys/0123456789abcdef/sign-out", REASON, key=operator).problem(404, "key-unknown")
    path = f"/v1/keys/{id_of(operator)}/sign-out"
    world.post(path, {}, key=operator).problem(422, "validation", "/reason")
    world.post(path, REASON | {"request_id": "q"}, key=operator).problem(422, "validation", "/request_id")
