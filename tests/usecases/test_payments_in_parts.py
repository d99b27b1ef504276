"""Awards paid in parts: no more than the award, each part under a reference of its own, a wrong one reversed by two."""

from datetime import timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support import asking
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, STRAIGHT, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def won(world: World) -> World:
    """A flush of EUR 100.00 that is payable in round r1."""
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(hours=1))
    return world


def award_of(world: World) -> Body:
    item: Body
    [item] = world.get("/v1/awards").ok()["items"]
    return item


def pay(world: World, reference: str, amount_minor: int | None = None, **more: Any) -> Answer:
    body = {"request_id": more.pop("request_id", reference.replace(" ", "-")), "reference": reference, **more}
    if amount_minor is not None:
        body["amount_minor"] = amount_minor
    return world.put(f"/v1/awards/{award_of(world)['award_id']}/payment", body, key=world.key(Role.TABLE))


def reversal(world: World, reference: str) -> Body:
    return {"jackpot_id": "j1", "award_id": award_of(world)["award_id"], "reference": reference}


def totals(world: World) -> dict[str, tuple[int, str]]:
    """The awards and their sum by state, as the report says."""
    rows = asking.rows(world, "awards", "totals", jackpot_id="j1")
    return {row["state"]: (row["awards"], row["amount"]) for row in rows}


def unpaid(world: World) -> list[tuple[int, str]]:
    rows = asking.rows(world, "liability", "unpaid", jackpot_id="j1")
    return [(row["awards"], row["amount"]) for row in rows]


def test_a_reference_names_one_payment_and_the_same_said_again_is_no_other(won: World) -> None:
    paid = pay(won, "slip 1", 40).ok(201)
    before = won.books.counts()

    assert pay(won, "slip 1", 40, request_id="again").ok(200) == paid
    pay(won, "slip 1", 41, request_id="other").problem(409, "payment-reference-taken")
    pay(won, "slip 1", 40, channel="bank", request_id="other").problem(409, "payment-reference-taken")
    pay(won, "slip 2", 40, request_id="slip-1").problem(409, "request-conflict")
    assert won.books.counts() == before


def test_a_payment_in_another_currency_is_refused(won: World) -> None:
    before = won.books.counts()
    pay(won, "slip 1", 40, currency="GBP").problem(422, "payment-currency", "/currency")
    assert won.books.counts() == before


def test_two_people_reverse_a_wrong_payment_and_the_award_is_paid_anew(won: World) -> None:
    whole = award_of(won)["amount_minor"]
    pay(won, "slip 1", 40).ok(201)
    pay(won, "slip 2").ok(201)

    effect = won.change("payment-reversal", reversal(won, "slip 1"), request_id="q1")

    assert effect["before"] == {"state": "paid"}
    award = award_of(won)
    assert (award["state"], award["paid_minor"]) == ("part-paid", whole - 40)
    assert [payment["reversed_by"] is None for payment in award["payments"]] == [False, True]
    assert totals(won) == {"payable": (1, "0.4"), "paid": (0, f"{(whole - 40) / 100:g}")}
    pay(won, "slip 1", 40, request_id="again").problem(409, "payment-reference-taken")
    assert pay(won, "slip 3", 40).ok(201)["state"] == "paid"
    assert won.books.mismatches() == ()


def test_a_payment_is_reversed_once_and_while_nothing_else_happens_to_its_award(won: World) -> None:
    pay(won, "slip 1", 40).ok(201)
    won.ask("payment-reversal", reversal(won, "slip 9"), request_id="q0").problem(404, "payment-unknown")
    unknown = {**reversal(won, "slip 1"), "award_id": "aw_0"}
    won.ask("payment-reversal", unknown, request_id="q0").problem(404, "award-unknown")
    won.ask("payment-reversal", reversal(won, "slip 1"), request_id="q1").ok(201)
    pay(won, "slip 2", 1).ok(201)
    won.approve("q1").problem(409, "change-stale")

    won.change("payment-reversal", reversal(won, "slip 1"), request_id="q2")

    won.ask("payment-reversal", reversal(won, "slip 1"), request_id="q3").problem(409, "payment-reversed")
    assert award_of(won)["paid_minor"] == 1


def test_the_rest_of_a_part_paid_award_is_stopped_and_released(won: World) -> None:
    whole = award_of(won)["amount_minor"]
    pay(won, "slip 1", 40).ok(201)
    path = f"/v1/awards/{award_of(won)['award_id']}/stop"

    won.put(path, {"request_id": "s", "reason": "doubt"}, key=won.person("Ida", Role.AUDITOR)).ok(201)

    assert award_of(won)["state"] == "stopped"
    pay(won, "slip 2").problem(409, "award-state")
    won.ask("payment-reversal", reversal(won, "slip 1"), request_id="q1").problem(409, "award-state")
    assert totals(won) == {"stopped": (1, f"{(whole - 40) / 100:g}"), "paid": (0, "0.4")}
    release = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "release"}
    won.change("held-awards", release, request_id="q2")
    assert award_of(won)["state"] == "part-paid"
    assert totals(won) == {"payable": (1, f"{(whole - 40) / 100:g}"), "paid": (0, "0.4")}
    assert pay(won, "slip 2").ok(201)["state"] == "paid"
    assert won.books.mismatches() == ()


def test_awards_that_are_paid_in_part_are_listed_as_such(won: World) -> None:
    pay(won, "slip 1", 40).ok(201)
    assert len(won.get("/v1/awards?state=part-paid").ok()["items"]) == 1
    for state in ("payable", "paid", "stopped"):
        assert won.get(f"/v1/awards?state={state}").ok()["items"] == []


def test_a_round_is_not_corrected_while_an_award_of_it_is_paid_in_part(won: World) -> None:
    pay(won, "slip 1", 40).ok(201)
    result = {"bet_count": 1, "hands": [hand("1", STRAIGHT)]}
    correction = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "result": result}
    problem = won.ask("round-correction", correction, request_id="q1").problem(409, "award-part-paid")
    assert problem["bet_ids"] == ["a"]

    won.change("payment-reversal", reversal(won, "slip 1"), request_id="q2")
    won.change("round-correction", correction, request_id="q3")

    assert won.books.mismatches() == ()


def test_a_round_is_not_corrected_either_while_the_rest_of_such_an_award_is_stopped(won: World) -> None:
    pay(won, "slip 1", 40).ok(201)
    path = f"/v1/awards/{award_of(won)['award_id']}/stop"
    won.put(path, {"request_id": "s", "reason": "doubt"}, key=won.person("Ida", Role.AUDITOR)).ok(201)
    result = {"bet_count": 1, "hands": [hand("1", STRAIGHT)]}
    correction = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "result": result}

    won.ask("round-correction", correction, request_id="q1").problem(409, "award-part-paid")

    assert award_of(won)["state"] == "stopped"


def test_a_payment_that_a_correction_counted_is_not_reversed(won: World) -> None:
    """It was asked for before the correction, and once more after it."""
    pay(won, "slip 1").ok(201)
    won.ask("payment-reversal", reversal(won, "slip 1"), request_id="q1").ok(201)
    result = {"bet_count": 1, "hands": [hand("1", NOTHING)]}
    correction = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "result": result}
    won.change("round-correction", correction, request_id="q2")

    won.approve("q1").problem(409, "round-corrected")
    won.ask("payment-reversal", reversal(won, "slip 1"), request_id="q3").problem(409, "round-corrected")

    assert award_of(won)["state"] == "paid"
    assert won.books.mismatches() == ()


def test_a_payment_is_no_replay_of_one_in_another_currency_or_of_one_part(won: World) -> None:
    pay(won, "slip 1", 40).ok(201)
    pay(won, "slip 1", 40, currency="GBP").problem(422, "payment-currency", "/currency")
    pay(won, "slip 1", request_id="rest").problem(409, "payment-reference-taken")
    assert award_of(won)["paid_minor"] == 40
