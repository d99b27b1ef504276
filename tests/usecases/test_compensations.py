"""Who would have won in a cancelled round gets what two people decide, by a posting of its own. Decision 24."""

from decimal import Decimal
from typing import Final

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

GIVEN: Body = {
    "jackpot_id": "j1",
    "table_id": "T1",
    "round_id": "r1",
    "bet_id": "b",
    "amount_minor": 2500,
    "currency": "GBP",
    "document": "incident 12",
}


@pytest.fixture
def cancelled(world: World) -> World:
    """A round of a euro and a pound, cancelled; the rates have changed since."""
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), bet("gone", hand="3"))
    world.void("gone", "tombstone")
    world.cancel()
    world.publish(GBP="1.30")
    return world


def test_a_compensation_is_the_houses_at_the_rates_of_the_round(cancelled: World) -> None:
    pools = cancelled.books.pools("j1")

    effect = cancelled.change("compensation", GIVEN)

    assert effect["after"]["cost"] == "29.25"
    assert cancelled.books.balance("j1", "house:adjustments") == Decimal("-29.25")
    assert cancelled.books.balance("j1", "casino:c1", "GBP") == 25
    assert cancelled.books.balance("j1", "fx:GBP", "GBP") == -25
    assert cancelled.books.balance("j1", "fx:EUR") == Decimal("29.25")
    assert cancelled.books.pools("j1") == pools


def test_the_record_of_the_round_shows_its_compensations(cancelled: World) -> None:
    cancelled.change("compensation", GIVEN, request_id="q1")
    cancelled.change("compensation", GIVEN | {"amount_minor": 1, "bet_id": "a", "currency": "EUR"}, request_id="q2")

    granted = [
        (
            compensation["bet_id"],
            compensation["player_id"],
            compensation["amount_minor"],
            compensation["currency"],
            compensation["cost_base"],
            compensation["document"],
        )
        for compensation in cancelled.round()["compensations"]
    ]
    assert granted == [
        ("b", "player-of-b", 2500, "GBP", "29.25", "incident 12"),
        ("a", "player-of-a", 1, "EUR", "0.01", "incident 12"),
    ]


def test_one_that_was_given_meanwhile_is_looked_at_before_another(cancelled: World) -> None:
    cancelled.ask("compensation", GIVEN, request_id="q1").ok(201)
    cancelled.ask("compensation", GIVEN, request_id="q2").ok(201)
    cancelled.approve("q1").ok()

    cancelled.approve("q2").problem(409, "change-stale")

    assert len(cancelled.round()["compensations"]) == 1


def test_what_was_given_is_taken_back_and_no_more(cancelled: World) -> None:
    cancelled.change("compensation", GIVEN, request_id="q1")
    cancelled.change("compensation", GIVEN | {"bet_id": "a"}, request_id="q2")
    cancelled.change("compensation", GIVEN | {"currency": "EUR"}, request_id="q3")
    owed, house = cancelled.books.balance("j1", "casino:c1", "GBP"), cancelled.books.balance("j1", "house:adjustments")

    too_much = cancelled.ask("compensation", GIVEN | {"amount_minor": -2501}, request_id="q0")
    effect = cancelled.change("compensation", GIVEN | {"amount_minor": -2500, "document": "error"}, request_id="q4")

    assert too_much.problem(409, "compensation-not-granted")["granted_minor"] == 2500
    assert effect["after"]["cost"] == "-29.25"
    assert cancelled.books.balance("j1", "casino:c1", "GBP") == owed - 25
    assert cancelled.books.balance("j1", "house:adjustments") == house + Decimal("29.25")
    assert [compensation["amount_minor"] for compensation in cancelled.round()["compensations"]] == [
        2500,
        2500,
        2500,
        -2500,
    ]
    cancelled.ask("compensation", GIVEN | {"amount_minor": -1}, request_id="q5").problem(
        409, "compensation-not-granted"
    )


def test_only_a_cancelled_round_is_compensated(cancelled: World) -> None:
    cancelled.bet(bet("b"), round_id="r2")
    named = GIVEN | {"round_id": "r2", "currency": "EUR"}
    assert cancelled.ask("compensation", named).problem(409, "round-not-cancelled")["state"] == "open"

    cancelled.settle(hand("1", FLUSH), round_id="r2")
    assert cancelled.ask("compensation", named).problem(409, "round-not-cancelled")["state"] == "settled"


NOT_GIVEN: Final[tuple[tuple[Body, int, str], ...]] = (
    ({"jackpot_id": "j9"}, 404, "jackpot-unknown"),
    ({"round_id": "r9"}, 404, "round-unknown"),
    ({"table_id": "T9"}, 404, "round-unknown"),
    ({"bet_id": "z"}, 404, "bet-unknown"),
    ({"bet_id": "gone"}, 404, "bet-unknown"),
    ({"bet_id": "tombstone"}, 404, "bet-unknown"),
    ({"player_id": "player-of-a"}, 404, "bet-unknown"),
    ({"currency": "CHF"}, 422, "no-rate"),
    ({"currency": "gbp"}, 422, "payload-invalid"),
    ({"currency": None}, 422, "payload-invalid"),
    ({"amount_minor": 0}, 422, "payload-invalid"),
    ({"amount_minor": -1}, 409, "compensation-not-granted"),
    ({"amount_minor": -(10**15) - 1}, 422, "payload-invalid"),
    ({"amount_minor": 1.0}, 422, "payload-invalid"),
    ({"amount_minor": "5"}, 422, "payload-invalid"),
    ({"amount_minor": True}, 422, "payload-invalid"),
    ({"amount_minor": 10**15 + 1}, 422, "payload-invalid"),
    ({"amount_minor": 2**64 - 1}, 422, "payload-invalid"),
    ({"document": ""}, 422, "payload-invalid"),
    ({"zzz": 1}, 422, "payload-invalid"),
)


def test_what_cannot_be_given_is_refused_and_leaves_nothing(cancelled: World, subtests: pytest.Subtests) -> None:
    cancelled.ask("compensation", GIVEN, query="?dry_run=true").ok()

    for number, (change, status, code) in enumerate(NOT_GIVEN):
        with subtests.test(change=change):
            before = cancelled.books.counts()

            cancelled.ask("compensation", GIVEN | change, request_id=f"q{number}").problem(status, code)

            assert cancelled.books.counts() == before


def test_more_than_the_books_could_hold_is_refused(world: World) -> None:
    world.publish(GBP="1000000000")
    world.open(base_amount="1000")
    world.bet(bet("b"))
    world.cancel()

    for amount_minor in (10**15, -(10**15)):
        refused = world.ask("compensation", GIVEN | {"amount_minor": amount_minor})
        refused.problem(422, "payload-invalid", "/payload/amount_minor")
