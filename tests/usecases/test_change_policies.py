"""The change policy: two people change who asks for a kind of change and who decides it, and from then on it is so."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

BY_OPERATORS: Final[Body] = {"requested_by": ["operator"], "decided_by": ["operator"]}
UNBOUND: Final[Body] = {"needs_other_department": False, "needs_other_role": False, "needs_passkey": False}
ADJUSTMENT: Final[Body] = {
    "jackpot_id": "j1",
    "account": "reserve",
    "amount": "1",
    "document": "memo 1",
    "cause": "count-error",
}


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    return world


def policy(world: World) -> Body:
    return world.get("/v1/change-policy").ok()


def policy_of_kind(world: World, kind: str) -> Body:
    (kind_policy,) = (kind_policy for kind_policy in policy(world)["kinds"] if kind_policy["kind"] == kind)
    return {name: value for name, value in kind_policy.items() if name != "kind"}


def ask_policy(world: World, kinds: Any, **more: Any) -> Any:
    return world.ask("change-policy", {"kinds": kinds}, **more)


def test_a_new_database_has_version_1_as_shipped(world: World) -> None:
    assert policy(world) == {
        "version": 1,
        "kinds": [{"kind": name, **SHIPPED_POLICY[name].facts} for name in sorted(SHIPPED_POLICY)],
    }


def test_two_operators_change_who_decides_and_the_rest_stays(opened: World) -> None:
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    opened.approve(by="Otto", role=Role.OPERATOR).problem(403, "role-forbidden")

    effect = opened.change("change-policy", {"kinds": {"adjustment": BY_OPERATORS}}, request_id="policy")

    assert (effect["before"]["version"], effect["after"]["version"]) == (1, 2)
    assert policy_of_kind(opened, "adjustment") == {**BY_OPERATORS, **UNBOUND}
    assert policy_of_kind(opened, "rules") == SHIPPED_POLICY["rules"].facts
    assert policy(opened)["version"] == 2
    opened.approve(by="Bob", role=Role.FINANCE).problem(403, "role-forbidden")
    opened.approve(by="Otto", role=Role.OPERATOR).ok()


def test_a_policy_that_was_changed_back_is_a_further_version(opened: World) -> None:
    opened.change("change-policy", {"kinds": {"adjustment": BY_OPERATORS}}, request_id="there")
    shipped = dict(SHIPPED_POLICY["adjustment"].facts)
    opened.person("Bob", Role.FINANCE)
    opened.change("change-policy", {"kinds": {"adjustment": shipped}}, request_id="back")

    assert (policy(opened)["version"], policy_of_kind(opened, "adjustment")) == (3, shipped)
    first, second = (opened.get(f"/v1/change-policy?version={number}").ok() for number in (1, 2))
    assert first["kinds"] == policy(opened)["kinds"] != second["kinds"]
    assert (first["version"], second["version"]) == (1, 2)
    opened.get("/v1/change-policy?version=4").problem(404, "change-policy-unknown")
    opened.get("/v1/change-policy?version=0").problem(422, "validation")
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    opened.approve(by="Otto", role=Role.OPERATOR).problem(403, "role-forbidden")
    opened.approve().ok()


def test_nobody_changes_the_policy_alone_whatever_it_says(opened: World) -> None:
    for name in ("Rita", "Rolf"):
        opened.person(name, Role.RATES)
    ask_policy(opened, {"change-policy": {"requested_by": ["rates"], "decided_by": ["rates"]}}, request_id="policy").ok(
        201
    )
    opened.approve("policy", by="Ann").problem(403, "same-user")
    opened.approve("policy", by="Ann", emergency=True).problem(403, "emergency-off")
    opened.approve("policy").ok()

    ask_policy(opened, {"rules": BY_OPERATORS}).problem(403, "role-forbidden")
    ask_policy(opened, {"rules": BY_OPERATORS}, by="Rita").ok(201)
    opened.approve(by="Rita").problem(403, "same-user")
    opened.approve(by="Rolf").ok()


def test_another_department_may_be_asked_for_and_a_department_is_for_ever(opened: World) -> None:
    two = {**BY_OPERATORS, "needs_other_department": True}
    key = opened.key_of(Principal("Nina", Role.OPERATOR, department="night-shift"))
    opened.change("change-policy", {"kinds": {"adjustment": two}}, request_id="policy")
    opened.ask("adjustment", ADJUSTMENT).ok(201)

    opened.approve(by="Otto", role=Role.OPERATOR).problem(403, "same-department")
    opened.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=key).ok()


def test_another_role_may_be_asked_for(opened: World) -> None:
    opened.person("Bob", Role.FINANCE)
    two = {"requested_by": ["operator"], "decided_by": ["finance", "operator"], "needs_other_role": True}
    opened.change("change-policy", {"kinds": {"adjustment": two}}, request_id="policy")
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    night = opened.key_of(Principal("Nina", Role.OPERATOR, department="night-shift"))

    opened.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=night).problem(403, "same-role")
    opened.approve(by="Bob").ok()


def test_a_rejection_is_for_deciders_of_another_department_as_well(opened: World) -> None:
    opened.bet(bet())
    opened.settle(hand("1", FLUSH))
    held = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
    opened.ask("held-awards", held).ok(201)
    body = {"reason": "not so"}

    rejecting = "/v1/change-requests/q1/rejection"
    opened.post(rejecting, body, key=opened.person("Otto", Role.OPERATOR)).problem(403, "same-department")
    opened.post(rejecting, body, key=opened.person("Rita", Role.RATES)).problem(403, "role-forbidden")
    opened.post(rejecting, body, key=opened.person("Bob", Role.FINANCE)).ok()


def test_the_same_call_again_is_a_replay_under_a_later_policy_too(opened: World) -> None:
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    opened.approve().ok()
    for name in ("Rita", "Rolf"):
        opened.person(name, Role.RATES)
    of_rates = {"requested_by": ["rates"], "decided_by": ["rates"]}
    opened.change("change-policy", {"kinds": {"adjustment": of_rates}}, request_id="policy")

    assert opened.ask("adjustment", ADJUSTMENT).ok(200)["state"] == "approved"
    assert opened.approve().ok()["state"] == "approved"
    opened.ask("adjustment", ADJUSTMENT, request_id="q2").problem(403, "role-forbidden")
    opened.ask("adjustment", ADJUSTMENT, by="Otto").problem(403, "role-forbidden")


def test_an_emergency_is_the_makers_who_need_not_decide_such_changes_otherwise(opened: World) -> None:
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    opened.approve(by="Ann").problem(403, "same-user")
    opened.switch_emergency()

    assert opened.approve(by="Ann", emergency=True).ok()["state"] == "approved"


def test_a_policy_made_against_an_older_one_is_stale(opened: World) -> None:
    ask_policy(opened, {"rules": BY_OPERATORS}, request_id="late").ok(201)
    opened.change("change-policy", {"kinds": {"adjustment": BY_OPERATORS}}, request_id="first")

    opened.approve("late").problem(409, "change-stale")


def test_a_policy_that_leaves_a_kind_with_nobody_to_ask_or_decide_is_refused(opened: World) -> None:
    of_rates = {"requested_by": ["operator"], "decided_by": ["rates"]}
    two_roles = {**BY_OPERATORS, "needs_other_role": True}
    two_desks = {**BY_OPERATORS, "needs_other_department": True}
    opened.person("Otto", Role.OPERATOR)
    opened.key_of(Principal("robot", Role.RATES, is_automaton=True))

    ask_policy(opened, {"rules": BY_OPERATORS, "change-policy": of_rates}).problem(
        422, "payload-invalid", f"{KINDS}/change-policy"
    )
    ask_policy(opened, {"held-awards": of_rates}, query="?dry_run=true").problem(
        422, "payload-invalid", f"{KINDS}/held-awards"
    )
    ask_policy(opened, {"held-awards": {"requested_by": ["finance"], "decided_by": ["operator"]}}).problem(
        422, "payload-invalid", f"{KINDS}/held-awards"
    )
    ask_policy(opened, {"rules": two_desks}).problem(422, "payload-invalid", f"{KINDS}/rules")

    opened.person("Rita", Role.RATES)
    opened.key_of(Principal("Nina", Role.OPERATOR, department="night-shift"))
    ask_policy(opened, {"rules": two_roles}).problem(422, "payload-invalid", f"{KINDS}/rules")
    ask_policy(opened, {"change-policy": of_rates, "rules": two_desks}).ok(201)


def test_who_has_no_key_any_more_decides_nothing_and_an_approval_sees_that_too(opened: World) -> None:
    key = opened.person("Rita", Role.RATES)
    ask_policy(opened, {"rules": {"requested_by": ["operator"], "decided_by": ["rates"]}}).ok(201)
    revoking = {"request_id": "gone", "reason": "she left"}
    operator = opened.person("Otto", Role.OPERATOR)
    opened.post(f"/v1/keys/{key.split('_')[1]}/revocation", revoking, key=operator).ok(201)

    opened.approve().problem(422, "payload-invalid", "")


def test_nobody_decides_what_they_alone_may_ask_for(world: World) -> None:
    world.person("Rita", Role.RATES)
    of_rates = {"requested_by": ["rates"], "decided_by": ["rates"]}

    ask_policy(world, {"rules": of_rates}).problem(422, "payload-invalid", f"{KINDS}/rules")
    world.person("Rolf", Role.RATES)
    ask_policy(world, {"rules": of_rates}).ok(201)


KINDS: Final = "/payload/kinds"
BAD: Final[Sequence[tuple[Any, str]]] = (
    (None, KINDS),
    ({}, KINDS),
    ([], KINDS),
    ({"no-kind": BY_OPERATORS}, f"{KINDS}/no-kind"),
    ({"a/b~": BY_OPERATORS}, f"{KINDS}/a~1b~0"),
    ({"rules": None}, f"{KINDS}/rules"),
    ({"rules": {"decided_by": ["operator"]}}, f"{KINDS}/rules/requested_by"),
    ({"rules": {"requested_by": ["operator"]}}, f"{KINDS}/rules/decided_by"),
    ({"rules": BY_OPERATORS | {"requested_by": []}}, f"{KINDS}/rules/requested_by"),
    ({"rules": BY_OPERATORS | {"decided_by": []}}, f"{KINDS}/rules/decided_by"),
    ({"rules": BY_OPERATORS | {"decided_by": None}}, f"{KINDS}/rules/decided_by"),
    ({"rules": BY_OPERATORS | {"decided_by": "operator"}}, f"{KINDS}/rules/decided_by"),
    ({"rules": BY_OPERATORS | {"decided_by": ["king"]}}, f"{KINDS}/rules/decided_by/0"),
    ({"rules": BY_OPERATORS | {"decided_by": ["operator", "table"]}}, f"{KINDS}/rules/decided_by/1"),
    ({"rules": BY_OPERATORS | {"decided_by": ["auditor"]}}, f"{KINDS}/rules/decided_by/0"),
    ({"rules": BY_OPERATORS | {"decided_by": [["operator"]]}}, f"{KINDS}/rules/decided_by/0"),
    ({"rules": BY_OPERATORS | {"decided_by": ["operator", "operator"]}}, f"{KINDS}/rules/decided_by"),
    ({"rules": BY_OPERATORS | {"needs_other_department": "yes"}}, f"{KINDS}/rules/needs_other_department"),
    ({"rules": BY_OPERATORS | {"needs_other_role": 1}}, f"{KINDS}/rules/needs_other_role"),
    ({"rules": BY_OPERATORS | {"needs_passkey": None}}, f"{KINDS}/rules/needs_passkey"),
    ({"rules": BY_OPERATORS | {"approvals": 0}}, f"{KINDS}/rules/approvals"),
    ({"rate-sheet": {"requested_by": ["rates"], "decided_by": ["rates"]}}, KINDS),
)
"""What no policy can say, and where a problem points: nobody asks or decides, no such kind or role, or nothing new."""


def test_a_policy_that_leaves_a_kind_with_nobody_or_names_what_is_not_is_refused(
    world: World, subtests: pytest.Subtests
) -> None:
    world.person("Ann", Role.OPERATOR)
    before = world.books.counts()

    for kinds, pointer in BAD:
        with subtests.test(str(kinds)):
            ask_policy(world, kinds).problem(422, "payload-invalid", pointer)
    assert world.books.counts() == before


def test_the_trail_and_the_feed_tell_who_changed_the_policy(opened: World) -> None:
    opened.change("change-policy", {"kinds": {"rules": BY_OPERATORS}}, request_id="policy")

    done, *_ = opened.get("/v1/audit?kind=change_policy_changed").ok()["items"]
    assert (done["principal"], done["decides"], done["subject"]) == ("Oskar", "policy", "change policy")
    assert done["after"]["kinds"]["rules"] == {**BY_OPERATORS, **UNBOUND}
    event = opened.get("/v1/events").ok()["items"][-1]
    assert (event["type"], event["data"]["version"]) == ("jackpot.change-policy.changed", 2)
