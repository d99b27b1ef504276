"""The end of a jackpot. Decision 22, scenario 41."""

from decimal import Decimal
from typing import Any

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import CYBER, World
from tests.usecases.test_suspension import put

pytestmark = pytest.mark.slow


def ask(world: World, *, to: str = "j2", request_id: str = "q1", **more: Any) -> Answer:
    return world.ask("retirement", {"jackpot_id": "j1", "to": to}, request_id=request_id, **more)


def adjust(world: World, account: str, amount: str, request_id: str) -> None:
    payload = {"jackpot_id": "j1", "account": account, "amount": amount, "document": "d", "cause": "other-documented"}
    world.change("adjustment", payload, request_id=request_id)


@pytest.fixture
def two(world: World) -> World:
    """Two jackpots: one with 12,000 in its meter, 10,000 of them the house's, and 300 in reserve; and an empty one."""
    world.open(base_amount="10000")
    world.open(jackpot_id="j2", tables=("T2",))
    adjust(world, "meter", "2000", "a1")
    adjust(world, "reserve", "300", "a2")
    return world


def test_scenario_41_the_players_money_goes_to_the_other_jackpot_and_the_houses_back(two: World) -> None:
    effect = two.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    assert two.books.pools("j1") == Pools()
    assert two.books.pools("j2") == Pools(meter_players=Decimal(2000), reserve=Decimal(300))
    assert two.books.balance("j1", "house:seed") == 0
    assert two.books.balance("j1", "transfer:q1") == 2300
    assert two.books.balance("j2", "transfer:q1") == -2300
    assert (effect["after"]["transferred"]["meter"], effect["after"]["to_house_seed"]) == ("2000", "10000")
    assert [(entry["book"], entry["kind"]) for entry in effect["entries"]] == [
        ("j1", "jackpot_retired"),
        ("j2", "transfer_received"),
    ]
    assert two.get("/v1/jackpots/j1").ok()["state"] == "retired"
    assert two.meter("j2")["amount_exact"] == "2000"


def test_scenario_41_it_is_refused_while_a_round_is_open(two: World) -> None:
    ask(two, request_id="q0").ok(201)
    two.bet(bet())

    ask(two).problem(409, "jackpot-in-play")
    problem = two.approve("q0").problem(409, "jackpot-in-play")

    assert (problem["table_id"], problem["round_id"]) == ("T1", "r1")
    assert two.get("/v1/jackpots/j1").ok()["state"] == "open"
    two.settle(hand("1", NOTHING))
    two.approve("q0").ok()


def test_a_round_without_a_live_bet_keeps_no_jackpot(two: World) -> None:
    two.bet(bet())
    two.void("b1")
    two.post_voids("never-came", round_id="r2").ok()

    two.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    assert two.put_result(hand("1", ROYAL_FLUSH)).ok(201)["settlement"]["awards"] == []
    two.cancel(round_id="r2")
    assert two.books.pools("j1") == Pools()


def test_a_retired_jackpot_never_comes_back(two: World) -> None:
    two.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    two.post_bets(bet()).problem(409, "jackpot-suspended")
    put(two, "resumption", "s1").problem(409, "jackpot-retired")
    put(two, "suspension", "s2").problem(409, "jackpot-retired")
    ask(two, request_id="q2").problem(409, "jackpot-retired")
    payload = {"jackpot_id": "j1", "account": "meter", "amount": "1", "document": "d", "cause": "count-error"}
    two.ask("adjustment", payload, request_id="q3").problem(409, "jackpot-retired")
    two.ask("rules", {"jackpot_id": "j1", "settings": {"limit": "9"}}, request_id="q4").problem(409, "jackpot-retired")
    two.ask("seed-recovery", {"jackpot_id": "j1", "amount": "1"}, request_id="q5").problem(409, "jackpot-retired")
    two.ask("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="q6").problem(409, "jackpot-retired")
    assert two.get("/v1/jackpots/j1/hits").ok()["items"] == []


def test_a_suspended_jackpot_is_retired_when_its_rounds_are_over(two: World) -> None:
    two.bet(bet())
    put(two, "suspension", "s1").ok(201)
    two.settle(hand("1", NOTHING))

    two.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    assert two.books.pools("j2").meter_players == Decimal("2000.45")
    assert two.books.pools("j2").prize_fund == Decimal("0.3184")


def test_a_prize_fund_goes_to_the_meter_where_that_pays_the_fixed_prizes(two: World) -> None:
    two.open(CYBER, jackpot_id="j3", tables=("T3",))
    two.bet(bet())
    two.settle(hand("1", NOTHING))

    two.change("retirement", {"jackpot_id": "j1", "to": "j3"})

    assert two.books.pools("j3") == Pools(
        meter_players=Decimal("2000.7684"), meter_house=Decimal(10_000), reserve=Decimal("300.05")
    )


def test_a_prize_fund_below_zero_is_trued_up_first(two: World) -> None:
    two.bet(bet())
    two.settle(hand("1", STRAIGHT_FLUSH))

    ask(two).problem(409, "insufficient-funds")
    two.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="q2")
    two.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="q3")

    assert two.books.pools("j1") == Pools()


def overdrawn(world: World, reset_amount: str = "10000") -> None:
    """Jackpot j1, whose players' part is below zero: a late reversal took what a partial award had taken before."""
    world.open(CYBER, settings={"reset_amount": reset_amount})
    world.open(jackpot_id="j2", tables=("T2",))
    for round_id in ("early", "winner"):
        world.bet(bet(), round_id=round_id)
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="winner")
    world.cancel(round_id="early")


def test_players_money_below_zero_is_filled_from_the_houses_part(world: World) -> None:
    overdrawn(world)
    before = world.books.pools("j1")
    assert before.meter_players == Decimal("-0.7")

    done = world.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    assert done["after"]["transferred"]["meter"] == "0"
    assert Decimal(done["after"]["to_house_seed"]) == before.meter
    assert world.books.pools("j1") == Pools()
    assert world.books.pools("j2") == Pools()


def test_a_meter_below_zero_is_lifted_first(world: World) -> None:
    overdrawn(world, "0")
    assert world.books.pools("j1").meter < 0

    ask(world).problem(409, "insufficient-funds")
    adjust(world, "meter", str(-world.books.pools("j1").meter), "a1")
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"})


def test_a_held_award_is_decided_about_first(world: World) -> None:
    world.open(base_amount="100", settings={"payout_tiers": held_from("10")})
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet())
    world.settle(hand("1", FLUSH))

    ask(world).problem(409, "jackpot-in-play")


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_no_decision_on_held_awards_meets_a_retired_jackpot(world: World, decision: str) -> None:
    world.open(base_amount="100", settings={"payout_tiers": held_from("10")})
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet())
    world.settle(hand("1", FLUSH))
    about = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
    for request_id in ("h1", "h2"):
        world.ask("held-awards", about | {"decision": decision}, request_id=request_id).ok(201)
    world.approve("h1").ok()
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="q2")

    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="q3")

    world.approve("h2").problem(409, "nothing-held")
    world.ask("held-awards", about | {"decision": decision}, request_id="h3").problem(409, "nothing-held")


def test_only_an_open_jackpot_of_the_same_base_receives(two: World) -> None:
    two.publish("USD", EUR="0.9")
    two.open(jackpot_id="usd", base="USD", tables=())
    two.open(jackpot_id="closed", tables=())
    put(two, "suspension", "s1", jackpot_id="closed").ok(201)

    ask(two, to="j1").problem(422, "target-invalid")
    ask(two, to="usd").problem(422, "target-invalid")
    ask(two, to="closed").problem(409, "target-closed")
    ask(two, to="j9").problem(404, "jackpot-unknown")
    two.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="q2")
    two.ask("retirement", {"jackpot_id": "j2", "to": "j1"}, request_id="q3").problem(409, "target-closed")


def test_an_empty_jackpot_is_retired_too(world: World) -> None:
    world.open()
    world.open(jackpot_id="j2", tables=("T2",))

    world.change("retirement", {"jackpot_id": "j1", "to": "j2"})

    assert world.get("/v1/jackpots/j1").ok()["state"] == "retired"


def test_a_change_of_either_jackpot_makes_a_retirement_stale(two: World) -> None:
    ask(two).ok(201)
    payload = {"jackpot_id": "j2", "account": "meter", "amount": "1", "document": "d", "cause": "count-error"}
    two.change("adjustment", payload, request_id="q2")

    two.approve("q1").problem(409, "change-stale")


def test_what_was_received_makes_requests_about_the_receiver_stale(two: World) -> None:
    payload = {"jackpot_id": "j2", "account": "meter", "amount": "1", "document": "d", "cause": "count-error"}
    two.ask("adjustment", payload, request_id="q2").ok(201)
    two.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="q3")

    two.approve("q2").problem(409, "change-stale")


def test_a_dry_run_of_a_retirement_moves_nothing(two: World) -> None:
    before = two.books.pools("j1")
    effect = ask(two, query="?dry_run=true").ok()["effect"]

    assert effect["after"]["pools"] == {"meter_players": "0", "meter_house": "0", "reserve": "0", "prize_fund": "0"}
    assert two.books.pools("j1") == before
    two.bet(bet())
