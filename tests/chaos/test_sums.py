"""Every sum is figured anew: a pool or a balance that is off by the least is found."""

from decimal import Decimal

import pytest

from tests.chaos import building as build
from tests.chaos.books import Books
from tests.chaos.sums import sums
from tests.chaos.violations import Fact

# EUR 1.00, and GBP 2.50 at 1.17: worth 3.925; a full house on the first pays 50 times its stake.
BALANCES = {
    ("live-1", "pool:meter:players", "EUR"): Decimal("1.76625"),
    ("live-1", "pool:meter:house", "EUR"): Decimal(0),
    ("live-1", "pool:reserve", "EUR"): Decimal("0.19625"),
    ("live-1", "pool:prize_fund", "EUR"): Decimal("1.24972") - 50,
    ("live-1", "house:margin", "EUR"): Decimal("0.71278"),
    ("live-1", "casino:north", "EUR"): Decimal(49),
    ("live-1", "casino:north", "GBP"): Decimal("-2.50"),
    ("live-1", "fx:GBP", "GBP"): Decimal("2.50"),
    ("live-1", "fx:EUR", "EUR"): Decimal("-2.925"),
}
STRIPES = {(jackpot, account): amount for (jackpot, account, _), amount in BALANCES.items() if account[:4] == "pool"}
SMALLEST = Decimal("1e-18")


def facts(books: Books) -> set[Fact]:
    return {sum_.fact for sum_ in sums(books)}


def books(**changed: object) -> Books:
    usual: dict[str, object] = {"balances": BALANCES, "stripes": STRIPES}
    return build.books_of(build.settled(), **(usual | changed))


def test_sums_that_are_right_are_no_violation() -> None:
    assert sums(books()) == ()


@pytest.mark.parametrize("account", ["pool:meter:players", "pool:reserve", "pool:prize_fund", "house:margin"])
def test_a_pool_that_is_off_by_the_least_differs(account: str) -> None:
    key = ("live-1", account, "EUR")

    assert Fact.POOL_DIFFERS in facts(books(balances={**BALANCES, key: BALANCES[key] + SMALLEST}))


def test_money_that_moves_between_meter_and_reserve_is_no_violation() -> None:
    moved = {
        ("live-1", "pool:meter:players", "EUR"): Decimal("1.9625"),
        ("live-1", "pool:reserve", "EUR"): Decimal(0),
    }
    stripes = {(jackpot, account): amount for (jackpot, account, _), amount in moved.items()}

    assert sums(books(balances=BALANCES | moved, stripes=STRIPES | stripes)) == ()


def test_a_casino_that_owes_another_amount_differs() -> None:
    key = ("live-1", "casino:north", "GBP")

    assert facts(books(balances={**BALANCES, key: Decimal("-2.49")})) == {Fact.CASINO_DIFFERS, Fact.UNBALANCED}


def test_a_casino_that_played_nothing_owes_nothing() -> None:
    balances = {**BALANCES, ("live-2", "casino:south", "EUR"): Decimal(1)}

    assert Fact.CASINO_DIFFERS in facts(books(balances=balances))


def test_accounts_that_do_not_sum_to_zero_are_unbalanced() -> None:
    assert facts(books(balances={**BALANCES, ("live-1", "bank:EUR", "EUR"): SMALLEST})) == {Fact.UNBALANCED}


def test_stripes_that_hold_something_else_than_the_postings_differ() -> None:
    key = ("live-1", "pool:reserve")

    assert facts(books(stripes={**STRIPES, key: STRIPES[key] + SMALLEST})) == {Fact.POOL_DIFFERS}


def test_a_bet_that_is_missing_shows_in_every_sum_of_its() -> None:
    there = build.settled(bets={"b1": build.BET})

    assert facts(build.books_of(there, balances=BALANCES, stripes=STRIPES)) == {
        Fact.POOL_DIFFERS,
        Fact.CASINO_DIFFERS,
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "cancelled", "awards": {}},
        {"voids": {"b1": False, "b2": False}, "awards": {}},
        {"hands": tuple(hand._replace(status="dead") for hand in build.RESULT.hands), "awards": {}},
    ],
)
def test_bets_that_were_given_back_leave_nothing(changed: dict[str, object]) -> None:
    assert sums(build.books_of(build.settled(**changed))) == ()


def test_an_award_that_is_held_is_not_the_casinos_yet() -> None:
    [(key, award)] = build.AWARDS.items()
    held = {
        ("live-1", "casino:north", "EUR"): Decimal(-1),
        ("live-1", "awards:held", "EUR"): Decimal(50),
    }
    there = build.settled(awards={key: award._replace(is_held=True)})

    assert sums(build.books_of(there, balances=BALANCES | held, stripes=STRIPES)) == ()
