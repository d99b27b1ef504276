"""Each kind of change is for certain roles: a key of any other neither asks for one nor decides one."""

from collections.abc import Iterator
from typing import Final

import pytest

from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.changes.registry import KINDS, SHIPPED_POLICY
from tests.support import every_kind
from tests.support.answers import Answer
from tests.support.fixtures import books_verify
from tests.support.world import World

pytestmark = pytest.mark.long

__all__ = ["books_verify"]

CHANGES: Final = "/v1/change-requests"
ALLOWED: Final = [
    (kind, maker, checker)
    for kind, policy in SHIPPED_POLICY.items()
    for maker in sorted(policy.requested_by)
    for checker in sorted(policy.decided_by)
    if not (policy.needs_other_role and maker is checker)
]
"""Who asks and who approves, of the kinds in their roles' own departments."""


@pytest.fixture
def played(world: World) -> World:
    return every_kind.played(world)


def ask(world: World, kind: str, *, key: str, request_id: str, query: str = "") -> Answer:
    body = {"request_id": request_id, "kind": kind, "payload": every_kind.PAYLOADS[kind], "reason": "as agreed"}
    return world.post(f"{CHANGES}{query}", body, key=key)


def approve(world: World, request_id: str, *, key: str, query: str = "") -> Answer:
    return world.post(f"{CHANGES}/{request_id}/approval{query}", {"reason": "checked"}, key=key)


def reject(world: World, request_id: str, *, key: str) -> Answer:
    return world.post(f"{CHANGES}/{request_id}/rejection", {"reason": "not so"}, key=key)


def asking(world: World, kind: str, *, key: str, request_id: str) -> Iterator[Answer]:
    """Everything by which somebody can try to ask for a kind of change, of which a request is there."""
    for query in ("", "?dry_run=true"):
        yield ask(world, kind, key=key, request_id="another", query=query)
        yield ask(world, kind, key=key, request_id=request_id, query=query)


def deciding(world: World, *, key: str, request_id: str) -> Iterator[Answer]:
    """Everything by which somebody can try to decide about a request."""
    for query in ("", "?dry_run=true"):
        yield approve(world, request_id, key=key, query=query)
    yield reject(world, request_id, key=key)


def refused(world: World, kind: str, *, request_id: str) -> int:
    """See that keys of all other roles neither ask nor decide, and count those that the policy keeps from one."""
    policy, keys = SHIPPED_POLICY[kind], {role: world.key(role) for role in Role}
    before = world.books.counts()
    answers = [
        *(
            answer
            for role in set(Role) - policy.requested_by
            for answer in asking(world, kind, key=keys[role], request_id="q1")
        ),
        *(
            answer
            for role in set(Role) - policy.decided_by
            for answer in deciding(world, key=keys[role], request_id=request_id)
        ),
    ]
    for answer in answers:
        answer.problem(403, "role-forbidden")
    assert world.books.counts() == before
    return len(answers)


def test_every_kind_of_change_is_known_by_its_name_and_has_a_payload_here() -> None:
    assert KINDS.keys() == set(KINDS) == every_kind.PAYLOADS.keys() == SHIPPED_POLICY.keys()
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in KINDS}


def test_money_by_hand_is_asked_for_by_operators_and_decided_by_finance() -> None:
    pools = ("adjustment", "seed-recovery", "prize-fund-true-up", "retirement")
    by_hand = (*pools, "compensation", "round-correction", "casino-claims")

    assert {SHIPPED_POLICY[kind] for kind in by_hand} == {
        KindPolicy(frozenset({Role.OPERATOR}), frozenset({Role.FINANCE}))
    }


def test_statements_are_finances_rates_are_those_of_rates_and_releases_take_finance_and_an_operator() -> None:
    both = frozenset({Role.FINANCE, Role.OPERATOR})

    assert SHIPPED_POLICY["statement-settlement"] == KindPolicy(frozenset({Role.FINANCE}), frozenset({Role.FINANCE}))
    assert SHIPPED_POLICY["rate-sheet"] == KindPolicy(frozenset({Role.RATES}), frozenset({Role.RATES}))
    assert SHIPPED_POLICY["held-awards"] == KindPolicy(both, both, needs_other_department=True, needs_other_role=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_another_role_neither_asks_for_a_change_nor_decides_one(played: World, kind: str) -> None:
    played.ask(kind, every_kind.PAYLOADS[kind]).ok(201)

    assert refused(played, kind, request_id="q1")
    assert played.get(f"{CHANGES}/q1").ok()["state"] == "pending"

    played.approve().ok()
    assert refused(played, kind, request_id="q1")


@pytest.mark.parametrize(("kind", "maker", "checker"), ALLOWED)
def test_a_key_of_a_role_that_the_policy_names_asks_approves_and_rejects(
    played: World, kind: str, maker: Role, checker: Role
) -> None:
    asks, decides = played.person("Mia", maker), played.person("Max", checker)

    ask(played, kind, key=asks, request_id="q0", query="?dry_run=true").ok(200)
    for request_id in ("q1", "q2"):
        ask(played, kind, key=asks, request_id=request_id).ok(201)
    rejected = reject(played, "q1", key=decides).ok()
    approved = approve(played, "q2", key=decides).ok()

    assert (rejected["state"], rejected["effect"]) == ("rejected", None)
    assert (approved["state"], approved["maker"], approved["decision"]["checker"]) == ("approved", "Mia", "Max")
    assert approved["effect"]["after"]


BY_TWO_ROLES: Final = [kind for kind, policy in SHIPPED_POLICY.items() if policy.needs_other_role]


@pytest.mark.parametrize("kind", BY_TWO_ROLES)
@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR])
def test_where_finance_and_an_operator_are_needed_nobody_of_the_makers_role_or_department_decides(
    played: World, kind: str, role: Role
) -> None:
    ask(played, kind, key=played.person("Mia", role), request_id="q1").ok(201)
    other = Role.OPERATOR if role is Role.FINANCE else Role.FINANCE
    colleague = played.person("Max", role)
    night = played.key_of(Principal("Moe", role, department="night-shift"))
    lent = played.key_of(Principal("Lea", other, department=role.value))

    for key, code in ((colleague, "same-department"), (night, "same-role"), (lent, "same-department")):
        for answer in deciding(played, key=key, request_id="q1"):
            answer.problem(403, code)
    approve(played, "q1", key=played.person("Moa", other)).ok()


@pytest.mark.parametrize("kind", KINDS)
def test_finance_of_a_casino_neither_asks_for_a_change_nor_decides_one(played: World, kind: str) -> None:
    played.ask(kind, every_kind.PAYLOADS[kind]).ok(201)
    key = played.key(Role.FINANCE, casino_id="c1")

    for answer in asking(played, kind, key=key, request_id="q1"):
        answer.problem(403, "role-forbidden")
    for answer in deciding(played, key=key, request_id="q1"):
        answer.problem(404, "change-unknown")
