"""Withholding rules of casinos: set by two people of finance, in force for rounds that are opened from then on."""

from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support import asking
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, hand
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

    answer = rules(world).ok()

    assert answer["casino_id"] == "c1"
    shown = [(rule["currency"], rule["version"], rule["percent"], rule["least_multiple"]) for rule in answer["rules"]]
    assert shown == [("EUR", 1, "24", None), ("EUR", 2, "24.5", 300), ("GBP", 1, None, None)]
    assert second["after"] == {"casino_id": "c1", **answer["rules"][1]}


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


@pytest.fixture
def won(world: World) -> World:
    """A casino with the rule, and flushes of EUR 100.00, 75.00 and 25.00 and of GBP 100.00 in later rounds."""
    world.open(base_amount="1000")
    rule(world, "rule")
    world.clock.advance(timedelta(hours=1))
    for bet_id, currency, stake_minor in (("a", "EUR", 400), ("b", "EUR", 300), ("c", "GBP", 400), ("d", "EUR", 100)):
        world.bet(bet(bet_id, currency=currency, stake_minor=stake_minor), round_id=bet_id)
        world.settle(hand("1", FLUSH), round_id=bet_id)
    world.clock.advance(timedelta(hours=1))
    return world


def awards(world: World) -> dict[str, Body]:
    return {item["bet_id"]: item for item in world.get("/v1/awards").ok()["items"]}


def withholdings(world: World) -> dict[str, tuple[bool | None, int | None]]:
    """What is reported and due of each award, by bet; as the list says, and the same of each by itself."""
    listed = awards(world)
    for item in listed.values():
        assert world.get(f"/v1/awards/{item['award_id']}").ok() == item
    return {bet_id: (item["reportable"], item["withholding_due_minor"]) for bet_id, item in listed.items()}


def pay(world: World, bet_id: str, reference: str, amount_minor: int | None, withheld_minor: object) -> Answer:
    body = {"request_id": reference, "reference": reference, "amount_minor": amount_minor}
    path = f"/v1/awards/{awards(world)[bet_id]['award_id']}/payment"
    return world.put(path, {**body, "withheld_minor": withheld_minor}, key=world.key(Role.TABLE))


def test_an_award_stands_under_the_rule_that_was_in_force_when_its_round_was_opened(won: World) -> None:
    won.bet(bet("e", stake_minor=400), round_id="open")
    before = withholdings(won)
    rule(won, "q2", percent="30.0001", report_at_minor=9000)
    won.clock.advance(timedelta(hours=1))
    won.bet(bet("f", stake_minor=300), bet("g", stake_minor=400), round_id="later")

    won.settle(hand("1", FLUSH), round_id="open")
    won.settle(hand("1", FLUSH), round_id="later")

    assert withholdings(won) == {**before, "e": (True, 2400), "f": (False, 0), "g": (True, 3000)}


def test_an_award_below_the_least_multiple_of_its_stake_is_neither_reported_nor_withheld(won: World) -> None:
    rule(won, "q2", least_multiple=26)
    won.clock.advance(timedelta(hours=1))
    won.bet(bet("e", stake_minor=400), round_id="e")
    won.settle(hand("1", FLUSH), round_id="e")
    assert withholdings(won)["e"] == (False, 0)
    rule(won, "q3", least_multiple=25)
    won.clock.advance(timedelta(hours=1))
    won.bet(bet("f", stake_minor=400), round_id="f")
    won.settle(hand("1", FLUSH), round_id="f")
    assert withholdings(won)["f"] == (True, 2400)


def test_a_later_version_takes_the_place_of_one_that_has_not_come(won: World) -> None:
    rule(won, "q2", percent="99", **{"from": (won.clock() + timedelta(hours=2)).isoformat()})
    rule(won, "q3", percent="10", **{"from": (won.clock() + timedelta(hours=1)).isoformat()})
    won.clock.advance(timedelta(hours=3))
    won.bet(bet("e", stake_minor=400), round_id="e")
    won.settle(hand("1", FLUSH), round_id="e")
    assert withholdings(won)["e"] == (True, 1000)


def test_the_report_of_awards_says_the_same_in_units(won: World) -> None:
    pay(won, "a", "slip-1", 5000, 1000).ok(201)
    rows = {row["bet_id"]: row for row in asking.rows(won, "awards", "awards", jackpot_id="j1")}
    shown = {name: (row["reportable"], row["withholding_due"], row["withheld_amount"]) for name, row in rows.items()}
    assert shown == {
        "a": ("yes", "24", "10"),
        "b": ("yes", "0", "0"),
        "c": (None, None, "0"),
        "d": ("no", "0", "0"),
    }


def test_what_is_withheld_moves_from_the_casino_to_its_authority_in_the_currency_of_the_award(won: World) -> None:
    rule(won, "q2", currency="GBP", percent="10")
    won.clock.advance(timedelta(hours=1))
    won.bet(bet("e", currency="GBP", stake_minor=400), round_id="e")
    won.settle(hand("1", FLUSH), round_id="e")
    before = {currency: won.books.balance("j1", "casino:c1", currency) for currency in ("EUR", "GBP")}
    entries = won.books.counts()["entries"]

    pay(won, "a", "slip-1", 5000, 1000).ok(201)
    pay(won, "e", "slip-2", None, 999).ok(201)
    pay(won, "b", "slip-3", None, 0).ok(201)

    assert won.books.counts()["entries"] == entries + 5, "one that withholds nothing books nothing for the jackpot"
    for currency, amount in (("EUR", Decimal(10)), ("GBP", Decimal("9.99"))):
        assert won.books.balance("j1", "withheld:c1", currency) == amount
        assert won.books.balance("j1", "casino:c1", currency) == before[currency] - amount
    (euro, pound) = asking.rows(won, "casino-statement", "accounts", casino_id="c1")
    assert [(row["currency"], row["withheld"]) for row in (euro, pound)] == [("EUR", "10"), ("GBP", "9.99")]
    balances = {row["account"]: row["closing"] for row in asking.rows(won, "trial-balance", jackpot_id="j1")}
    assert "withheld:c1" in balances
    compared = asking.rows(won, "reconciliation", "accounts", jackpot_id="j1")
    expected_by_account = {
        (row["account"], row["currency"]): row["expected"] for row in compared if row["movement"] == "withholding"
    }
    assert expected_by_account == {
        ("casino:c1", "EUR"): "-10",
        ("casino:c1", "GBP"): "-9.99",
        ("withheld:c1", "EUR"): "10",
        ("withheld:c1", "GBP"): "9.99",
    }
    assert all(row["variance"] == "0" for row in compared)


def test_a_reversed_payment_frees_what_it_withheld(won: World) -> None:
    pay(won, "a", "slip-1", None, 2400).ok(201)
    reversal = {"jackpot_id": "j1", "award_id": awards(won)["a"]["award_id"], "reference": "slip-1"}
    won.change("payment-reversal", reversal, request_id="q2")
    assert awards(won)["a"]["withheld_minor"] == 0
    assert won.books.balance("j1", "withheld:c1") == 0
    assert pay(won, "a", "slip-2", None, 2400).ok(201)["withheld_minor"] == 2400


@pytest.mark.parametrize(
    ("withheld_minor", "amount_minor", "status", "code"),
    [
        (-1, None, 422, "validation"),
        (1.0, None, 422, "validation"),
        ("1", None, 422, "validation"),
        (True, None, 422, "validation"),
        (None, None, 422, "validation"),
        (10**15 + 1, None, 422, "validation"),
        (11, 10, 422, "payment-withheld"),
        (10**15, None, 422, "payment-withheld"),
    ],
)
def test_a_part_that_cannot_be_withheld_is_refused(
    won: World, withheld_minor: object, amount_minor: int | None, status: int, code: str
) -> None:
    before = won.books.counts()
    pay(won, "a", "slip-1", amount_minor, withheld_minor).problem(status, code, "/withheld_minor")
    assert won.books.counts() == before


def test_the_same_reference_with_another_part_withheld_is_another_payment(won: World) -> None:
    paid = pay(won, "a", "slip-1", 5000, 1000).ok(201)
    assert pay(won, "a", "slip-1", 5000, 1000).ok(200) == paid
    pay(won, "a", "slip-1", 5000, 999).problem(409, "request-conflict")
    body = {"request_id": "again", "reference": "slip-1", "amount_minor": 5000}
    path = f"/v1/awards/{paid['award_id']}/payment"
    won.put(path, body, key=won.key(Role.TABLE)).problem(409, "payment-reference-taken")
