"""Two people decide about each prize that was denied: a compensation, or that none is due. Decision 29."""

from decimal import Decimal
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.answers import Body
from tests.support.asking import rows
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, forfeited, hand
from tests.support.notifications import follow, now
from tests.support.world import World

pytestmark = pytest.mark.slow

BET: Final[Body] = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "bet_id": "b1"}
GIVEN: Final[Body] = BET | {"amount_minor": 2500, "currency": "EUR", "document": "minutes 7"}


@pytest.fixture
def denied(world: World) -> World:
    """A settled round in which a flush was called forfeited: EUR 25.00 for b1."""
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(forfeited("1", FLUSH), hand("2", NOTHING))
    return world


def exception(world: World) -> Body:
    (prize,) = world.get("/v1/exceptions?kind=prize-denied").ok()["items"]
    assert isinstance(prize, dict)
    return prize


def test_two_people_decline_and_the_exception_says_who_and_why(denied: World) -> None:
    before = denied.books.pools("j1")

    effect = denied.change("declined-compensation", BET)

    closed = exception(denied)
    assert closed["acknowledgement"] | {"acknowledged_at": None} == {
        "principal": "Bob",
        "reason": "checked",
        "acknowledged_at": None,
        "resolution": "declined",
    }
    assert effect["after"]["exception_id"] == closed["exception_id"]
    assert denied.books.pools("j1") == before
    assert denied.get("/v1/exceptions?acknowledged=false").ok()["items"] == []
    assert denied.books.mismatches() == ()


def test_the_approvers_own_reason_is_the_one_that_is_shown(denied: World) -> None:
    denied.ask("declined-compensation", BET).ok(201)
    denied.approve(reason="the cameras show a fold").ok()

    assert exception(denied)["acknowledgement"]["reason"] == "the cameras show a fold"


def test_the_maker_alone_does_not_decline(denied: World) -> None:
    denied.ask("declined-compensation", BET).ok(201)

    denied.approve(by="Ann").problem(403, "same-user")

    assert exception(denied)["acknowledgement"] is None


def test_a_denied_bet_of_a_settled_round_is_compensated_and_its_exception_closed(denied: World) -> None:
    effect = denied.change("compensation", GIVEN)

    assert effect["after"]["exception_id"] == exception(denied)["exception_id"]
    assert exception(denied)["acknowledgement"]["resolution"] == "compensated"
    assert denied.books.balance("j1", "house:adjustments") == Decimal(-25)
    assert denied.books.mismatches() == ()


def test_what_was_granted_stands_beside_what_was_denied_also_where_it_is_less(denied: World) -> None:
    assert exception(denied)["granted"] == []
    denied.change("compensation", GIVEN | {"amount_minor": 1}, request_id="q1")

    shown = exception(denied)
    assert (shown["facts"]["amount_minor"], shown["facts"]["currency"]) == (2500, "EUR")
    assert shown["granted"] == [{"currency": "EUR", "amount_minor": 1}]
    assert shown["acknowledgement"]["resolution"] == "compensated"

    then = denied.clock()
    denied.change("compensation", GIVEN | {"amount_minor": 2499}, request_id="q2")
    denied.change("compensation", GIVEN | {"amount_minor": 300, "currency": "GBP"}, request_id="q3")

    euros, pounds = {"currency": "EUR", "amount_minor": 2500}, {"currency": "GBP", "amount_minor": 300}
    assert exception(denied)["granted"] == [euros, pounds]
    denied.change("compensation", GIVEN | {"amount_minor": -300, "currency": "GBP"}, request_id="q4")
    assert exception(denied)["granted"] == [euros]
    (row,) = rows(denied, "exceptions", "exceptions")
    (before,) = rows(denied, "exceptions", "exceptions", as_of=then)
    assert (before["denied"], before["granted"]) == ("2500 EUR", "1 EUR")
    assert (row["denied"], row["granted"]) == ("2500 EUR", "2500 EUR")


def test_a_declined_prize_shows_that_nothing_was_granted(denied: World) -> None:
    denied.change("declined-compensation", BET)

    assert exception(denied)["granted"] == []


def test_another_exception_shows_no_grant(denied: World) -> None:
    denied.post_bets(bet("late")).problem(409, "round-settled")

    (late,) = denied.get("/v1/exceptions?kind=late-bet").ok()["items"]
    assert late["granted"] is None


def test_another_bet_of_the_settled_round_is_not_compensated(denied: World) -> None:
    denied.ask("compensation", GIVEN | {"bet_id": "b2"}).problem(409, "round-not-cancelled")


def test_a_second_compensation_closes_nothing_and_the_first_is_taken_back(denied: World) -> None:
    denied.change("compensation", GIVEN, request_id="q1")

    again = denied.change("compensation", GIVEN | {"amount_minor": -2500}, request_id="q2")

    assert again["after"]["exception_id"] is None
    assert denied.books.balance("j1", "house:adjustments") == 0
    assert denied.books.mismatches() == ()


def test_a_bet_made_void_after_the_closing_is_compensated_as_its_prize_was_denied(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.put_closing(bet_count=2).ok(201)
    world.post_voids("b1", reason="the player left").ok()
    world.settle(hand("1", FLUSH), hand("2", NOTHING))

    world.change("compensation", GIVEN)

    assert exception(world)["acknowledgement"]["resolution"] == "compensated"
    assert world.books.mismatches() == ()


def test_a_denied_prize_of_a_cancelled_round_is_closed_by_its_compensation(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.put_cancellation(hands=[hand("1", ROYAL_FLUSH)]).ok(201)

    world.change("compensation", GIVEN | {"bet_id": "b2"}, request_id="q1")
    assert exception(world)["acknowledgement"] is None

    world.change("compensation", GIVEN, request_id="q2")
    assert exception(world)["acknowledgement"]["resolution"] == "compensated"
    assert world.books.mismatches() == ()


def test_it_is_decided_once(denied: World) -> None:
    denied.ask("declined-compensation", BET, request_id="q1").ok(201)
    denied.ask("declined-compensation", BET, request_id="q2").ok(201)
    denied.approve("q1").ok()

    denied.approve("q2").problem(409, "denied-prize-decided")
    denied.ask("declined-compensation", BET, request_id="q3").problem(409, "denied-prize-decided")


def test_a_compensation_that_was_asked_for_before_compensation_was_declined_is_stale(denied: World) -> None:
    denied.ask("compensation", GIVEN, request_id="grant").ok(201)
    denied.change("declined-compensation", BET, request_id="decline")

    denied.approve("grant").problem(409, "change-stale")

    assert denied.round()["compensations"] == []


def test_a_compensation_after_all_leaves_the_exception_as_it_was_decided(denied: World) -> None:
    denied.change("declined-compensation", BET, request_id="decline")

    effect = denied.change("compensation", GIVEN, request_id="grant")

    assert effect["after"]["exception_id"] is None
    assert exception(denied)["acknowledgement"]["resolution"] == "declined"
    assert denied.books.mismatches() == ()


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        ({"bet_id": "b2"}, 404, "denied-prize-unknown"),
        ({"bet_id": "nobodys"}, 404, "denied-prize-unknown"),
        ({"round_id": "r9"}, 404, "round-unknown"),
        ({"table_id": "T9"}, 404, "round-unknown"),
        ({"jackpot_id": "j9"}, 404, "jackpot-unknown"),
        ({"bet_id": ""}, 422, "payload-invalid"),
    ],
)
def test_what_was_not_denied_is_not_declined(denied: World, wrong: Body, status: int, code: str) -> None:
    denied.ask("declined-compensation", BET | wrong).problem(status, code)


def test_the_report_and_the_feed_say_how_it_ended(denied: World) -> None:
    before = now(denied)
    denied.change("declined-compensation", BET)

    report = denied.get("/v1/reports/exceptions", key=denied.key(Role.FINANCE)).ok()
    (row,) = next(section["rows"] for section in report["sections"] if section["name"] == "exceptions")
    assert (row["kind"], row["acknowledged_by"], row["reason"]) == ("prize-denied", "Bob", "checked")
    assert row["resolution"] == "declined"
    (event,) = (event for event in follow(denied, after=before) if event["type"] == "jackpot.compensation.declined")
    assert (event["data"]["bet_id"], event["data"]["exception_id"]) == ("b1", row["exception_id"])
    assert (event["data"]["table_id"], event["data"]["round_id"]) == ("T1", "r1")


RIGHT: Final = (hand("1", FLUSH), hand("2", NOTHING))


def test_a_bet_that_a_correction_awards_is_not_compensated_as_well(denied: World) -> None:
    denied.ask("compensation", GIVEN, request_id="grant").ok(201)
    correcting.correct(denied, *RIGHT, request_id="correction")

    denied.approve("grant").problem(409, "bet-awarded")
    denied.ask("compensation", GIVEN, request_id="again").problem(409, "bet-awarded")
    denied.change("declined-compensation", BET, request_id="decline")
    assert denied.books.balance("j1", "house:adjustments") == 0
    assert denied.books.mismatches() == ()


def test_a_bet_that_was_compensated_is_not_awarded_by_a_correction_until_it_is_taken_back(denied: World) -> None:
    correcting.ask(denied, *RIGHT, request_id="correction").ok(201)
    denied.change("compensation", GIVEN, request_id="grant")

    denied.approve("correction").problem(409, "bet-compensated")
    correcting.ask(denied, *RIGHT, request_id="second").problem(409, "bet-compensated")
    denied.change("compensation", GIVEN | {"amount_minor": -2500}, request_id="back")
    correcting.correct(denied, *RIGHT, request_id="third")
    assert [item["amount_minor"] for item in denied.get("/v1/awards").ok()["items"]] == [2500]
    assert denied.books.mismatches() == ()
