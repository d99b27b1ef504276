"""Withholding rules of casinos: set by two people of finance, in force for rounds that are opened from then on."""

from datetime import timedelta
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer, Body
from tests.support.fixtures import books_verify
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

RULE: Final[Body] = {
    "casino_id": "c1",
    "currency": "EUR",
    "report_at_minor": 5000,
    "withhold_at_minor": 10_000,
    "percent": "24",
}
"""Awards of EUR 50.00 and more are reported, and of those of EUR 100.00 and more 24 per cent are withheld."""


def stated(more: Body) -> Body:
    """The rule with other values; one that is None is left out."""
    return {name: value for name, value in {**RULE, **more}.items() if value is not None}


def ask(world: World, request_id: str = "q1", **more: Any) -> Answer:
    return world.ask("casino-withholding", stated(more), request_id=request_id)


def rule(world: World, request_id: str = "q1", **more: Any) -> Body:
    return world.change("casino-withholding", stated(more), request_id=request_id)


def rules(world: World, casino_id: str = "c1", *, key: str | None = None) -> Answer:
    return world.get(f"/v1/casinos/{casino_id}/withholding-rules", key=key)


def test_two_people_of_finance_give_a_casino_a_withholding_rule_version_by_version(world: World) -> None:
    first = rule(world, "q1")
    assert first["before"] is None
    second = rule(world, "q2", percent="24.5", least_multiple=300)
    assert second["before"] == first["after"]
    rule(world, "q3", currency="GBP", withhold_at_minor=None, percent=None)

    found = rules(world).ok()

    assert found["casino_id"] == "c1"
    shown = [(one["currency"], one["version"], one["percent"], one["least_multiple"]) for one in found["rules"]]
    assert shown == [("EUR", 1, "24", None), ("EUR", 2, "24.5", 300), ("GBP", 1, None, None)]
    assert second["after"] == {"casino_id": "c1", **found["rules"][1]}


def test_a_rule_comes_into_force_when_it_says_and_never_in_the_past(world: World) -> None:
    later = world.clock() + timedelta(days=30)
    ask(world, "q1", **{"from": (world.clock() - timedelta(seconds=1)).isoformat()}).problem(
        422, "payload-invalid", "/payload/from"
    )
    after = rule(world, "q2", **{"from": later.isoformat()})["after"]
    assert after["from"] == later.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    ask(world, "q3", **{"from": (world.clock() + timedelta(hours=1)).isoformat()}).ok(201)
    world.clock.advance(timedelta(hours=2))
    world.approve("q3").problem(422, "payload-invalid")


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        ({"percent": "0"}, 422, "withholding-invalid"),
        ({"percent": "100"}, 422, "withholding-invalid"),
        ({"percent": "-1"}, 422, "withholding-invalid"),
        ({"percent": "24.00001"}, 422, "withholding-invalid"),
        ({"percent": 24}, 422, "payload-invalid"),
        ({"percent": "NaN"}, 422, "payload-invalid"),
        ({"percent": "1e1"}, 422, "payload-invalid"),
        ({"percent": None}, 422, "withholding-invalid"),
        ({"withhold_at_minor": None}, 422, "withholding-invalid"),
        ({"withhold_at_minor": 4999}, 422, "withholding-invalid"),
        ({"report_at_minor": 0}, 422, "payload-invalid"),
        ({"report_at_minor": 1.0}, 422, "payload-invalid"),
        ({"report_at_minor": True}, 422, "payload-invalid"),
        ({"report_at_minor": 10**15 + 1}, 422, "payload-invalid"),
        ({"least_multiple": 0}, 422, "payload-invalid"),
        ({"least_multiple": "300"}, 422, "payload-invalid"),
        ({"least_multiple": 10**6 + 1}, 422, "payload-invalid"),
        ({"currency": "XXX"}, 422, "unknown-currency"),
        ({"currency": "eur"}, 422, "payload-invalid"),
        ({"casino_id": "none"}, 404, "casino-unknown"),
        ({"from": "2027-01-01"}, 422, "payload-invalid"),
        ({"from": "0001-01-01T00:00:00+14:00"}, 422, "payload-invalid"),
        ({"forms": "W-2G"}, 422, "payload-invalid"),
    ],
    ids=str,
)
def test_a_rule_that_cannot_be_is_refused(world: World, wrong: Body, status: int, code: str) -> None:
    world.person("Fay", Role.FINANCE)
    before = world.books.counts()
    ask(world, **wrong).problem(status, code)
    assert world.books.counts() == before


def test_a_rule_is_stale_when_another_version_was_approved_meanwhile(world: World) -> None:
    ask(world, "q1").ok(201)
    rule(world, "q2", percent="25")
    world.approve("q1").problem(409, "change-stale")


def test_a_casino_sees_its_own_rules_alone(world: World) -> None:
    rule(world)
    world.add_casino("c2")
    own = world.key_of(Principal("Cora", Role.FINANCE, "c1"))
    other = world.key_of(Principal("Dora", Role.FINANCE, "c2"))
    assert len(rules(world, key=own).ok()["rules"]) == 1
    rules(world, key=other).problem(404, "casino-unknown")
    assert rules(world, "c2", key=other).ok()["rules"] == []
    rules(world, "none").problem(404, "casino-unknown")
    rules(world, key=world.key(Role.RATES)).problem(403, "role-forbidden")
