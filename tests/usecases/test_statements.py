"""A casino's statement is settled against the bank, in one currency of one jackpot, with its calculation."""

from decimal import Decimal
from typing import Final

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

PAID: Body = {
    "jackpot_id": "j1",
    "casino_id": "c1",
    "currency": "EUR",
    "from": "2026-10-01T00:00:00Z",
    "to": "2026-11-01T00:00:00Z",
    "amount": "3.00",
    "reference": "2026-10",
}


@pytest.fixture
def owing(world: World) -> World:
    """A casino that owes three euros and one yen-free pound."""
    world.open(base_amount="1000")
    world.bet(bet("a", stake_minor=300), bet("b", currency="GBP", hand="2"))
    return world


def test_what_a_casino_paid_comes_in_by_the_bank(owing: World) -> None:
    effect = owing.change("statement-settlement", PAID)

    assert effect["before"] == {"balance": "-3"}
    assert (effect["after"]["balance_before"], effect["after"]["balance_after"]) == ("-3", "0")
    assert owing.books.balance("j1", "casino:c1") == 0
    assert owing.books.balance("j1", "bank:EUR") == -3
    assert owing.books.balance("j1", "casino:c1", "GBP") == -1


def test_what_a_casino_was_paid_goes_out_by_the_bank(owing: World) -> None:
    owing.settle(hand("1", FLUSH), hand("2"))

    effect = owing.change("statement-settlement", PAID | {"amount": "-72"})

    assert (effect["after"]["balance_before"], effect["after"]["balance_after"]) == ("72", "0")
    assert owing.books.balance("j1", "bank:EUR") == 72


def test_a_later_statement_counts_on_from_the_one_before(owing: World) -> None:
    owing.change("statement-settlement", PAID, request_id="q1")
    owing.bet(bet("c", stake_minor=150), round_id="r2")

    effect = owing.change("statement-settlement", PAID | {"reference": "2026-11", "amount": "1"}, request_id="q2")

    assert (effect["after"]["balance_before"], effect["after"]["balance_after"]) == ("-1.5", "-0.5")
    assert owing.books.balance("j1", "casino:c1") == Decimal("-0.5")


def test_a_reference_is_settled_once_in_each_currency(owing: World) -> None:
    owing.change("statement-settlement", PAID, request_id="q1")

    owing.ask("statement-settlement", PAID, request_id="q2").problem(409, "statement-settled")
    owing.change("statement-settlement", PAID | {"currency": "GBP", "amount": "1"}, request_id="q3")

    assert owing.books.balance("j1", "bank:GBP", "GBP") == -1


def test_of_two_requests_for_one_account_the_later_is_looked_at_again(owing: World) -> None:
    owing.ask("statement-settlement", PAID, request_id="q1").ok(201)
    owing.ask("statement-settlement", PAID | {"reference": "again"}, request_id="q2").ok(201)
    owing.approve("q1").ok()

    owing.approve("q2").problem(409, "change-stale")


def test_bets_that_are_accepted_between_request_and_approval_do_not_make_it_stale(owing: World) -> None:
    owing.ask("statement-settlement", PAID).ok(201)
    owing.bet(bet("c"), round_id="r2")

    effect = owing.approve().ok()["effect"]

    assert (effect["after"]["balance_before"], effect["after"]["balance_after"]) == ("-4", "-1")


NOT_SETTLED: Final[tuple[tuple[Body, int, str], ...]] = (
    ({"jackpot_id": "j9"}, 404, "jackpot-unknown"),
    ({"casino_id": "c9"}, 404, "casino-unknown"),
    ({"currency": "XXX"}, 422, "unknown-currency"),
    ({"currency": "eur"}, 422, "payload-invalid"),
    ({"amount": "0"}, 422, "payload-invalid"),
    ({"amount": "-0.00"}, 422, "payload-invalid"),
    ({"amount": "3.001"}, 422, "payload-invalid"),
    ({"amount": "1.5", "currency": "JPY"}, 422, "payload-invalid"),
    ({"amount": "1000000000000000"}, 422, "payload-invalid"),
    ({"amount": "9" * 60}, 422, "payload-invalid"),
    ({"amount": "9" * 61}, 422, "payload-invalid"),
    ({"amount": "NaN"}, 422, "payload-invalid"),
    ({"amount": "1e2"}, 422, "payload-invalid"),
    ({"amount": " 1"}, 422, "payload-invalid"),
    ({"amount": 3}, 422, "payload-invalid"),
    ({"from": "2026-11-01T00:00:00Z"}, 422, "payload-invalid"),
    ({"from": "2026-11-01"}, 422, "payload-invalid"),
    ({"to": "2026-11-21T00:00:00Z"}, 422, "payload-invalid"),
    ({"reference": ""}, 422, "payload-invalid"),
    ({"reference": "x" * 501}, 422, "payload-invalid"),
    ({"zzz": 1}, 422, "payload-invalid"),
)


def test_what_cannot_be_settled_is_refused_and_leaves_nothing(owing: World, subtests: pytest.Subtests) -> None:
    owing.ask("statement-settlement", PAID, query="?dry_run=true").ok()

    for number, (change, status, code) in enumerate(NOT_SETTLED):
        with subtests.test(change=change):
            before = owing.books.counts()

            owing.ask("statement-settlement", PAID | change, request_id=f"q{number}").problem(status, code)

            assert owing.books.counts() == before


def test_a_balance_with_more_decimals_than_can_be_paid_is_settled_to_what_can(world: World) -> None:
    """The accounts of a casino hold whole minor units; a statement that pays one too many leaves the casino owed."""
    world.open(base_amount="1000")
    world.bet(bet("a", currency="JPY", stake_minor=150))

    effect = world.change("statement-settlement", PAID | {"currency": "JPY", "amount": "151"})

    assert (effect["after"]["balance_before"], effect["after"]["balance_after"]) == ("-150", "1")
