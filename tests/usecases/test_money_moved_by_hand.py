"""Adjustments, recovery of house seed, true-up of a prize fund: by two people, and undone only by another."""

from decimal import Decimal
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.usecases.changes.adjustment import Cause
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


def adjustment(**stated: Any) -> Body:
    legal = {"account": "meter", "amount": "-100", "document": "memo 7", "cause": "count-error"}
    return {"jackpot_id": "j1", **legal, **stated}


def ask(world: World, kind: str = "adjustment", *, request_id: str = "q1", **stated: Any) -> Answer:
    payload = adjustment(**stated) if kind == "adjustment" else {"jackpot_id": "j1", **stated}
    return world.ask(kind, payload, request_id=request_id)


def move(world: World, kind: str = "adjustment", *, request_id: str = "q1", **stated: Any) -> Body:
    payload = adjustment(**stated) if kind == "adjustment" else {"jackpot_id": "j1", **stated}
    return world.change(kind, payload, request_id=request_id)


@pytest.fixture
def opened(world: World) -> World:
    """In the meter 450 of the players' money and 1,000 of the house's; 50 in reserve, 318.40 for fixed prizes."""
    world.open(base_amount="1000")
    for number in range(10):
        world.bet(bet(stake_minor=10_000), round_id=f"filled-{number}")
    return world


def test_scenario_39_an_adjustment_takes_two_people_and_a_reason_and_is_no_win(opened: World) -> None:
    key = opened.person("Ann", Role.OPERATOR)
    without = {"request_id": "q0", "kind": "adjustment", "payload": adjustment()}
    opened.post("/v1/change-requests", without, key=key).problem(422, "validation", "/reason")
    ask(opened, request_id="q2", amount="-450.01").problem(422, "below-zero")
    ask(opened).ok(201)
    opened.approve(by="Ann").problem(403, "same-user")
    assert opened.books.pools("j1").meter == 1450

    effect = opened.approve().ok()["effect"]

    assert effect["before"]["pools"]["meter_players"] == "450"
    assert effect["after"]["pools"]["meter_players"] == "350"
    assert (effect["after"]["document"], effect["after"]["cause"]) == ("memo 7", "count-error")
    assert opened.meter()["amount_exact"] == "1350"
    assert opened.books.moved("j1", "pool:meter:players", "adjustment") == -100
    assert opened.books.balance("j1", "house:adjustments") == 100
    assert opened.books.moved("j1", "pool:meter:players", "award") == 0
    assert opened.get("/v1/jackpots/j1/hits").ok()["items"] == []
    assert opened.meter()["cycle"] == 1


def test_an_adjustment_is_undone_by_the_opposite_one_and_by_nothing_else(opened: World) -> None:
    before = opened.books.pools("j1")

    move(opened)
    move(opened, request_id="q2", amount="100", cause="reversed-adjustment", document="undoes q1")

    assert opened.books.pools("j1") == before
    assert opened.books.balance("j1", "house:adjustments") == 0
    assert opened.books.value("SELECT count(*) FROM entries WHERE kind = 'adjustment' AND jackpot_id = 'j1'") == 2


@pytest.mark.parametrize(
    ("account", "pool"),
    [("meter", "pool:meter:players"), ("reserve", "pool:reserve")],
)
def test_a_pool_of_the_players_is_adjusted_down_to_zero_and_not_below(opened: World, account: str, pool: str) -> None:
    for number in range(10):
        opened.settle(hand("1"), round_id=f"filled-{number}")
    held = opened.books.balance("j1", pool)

    ask(opened, account=account, amount=str(-held - Decimal("0.000000000000000001"))).problem(422, "below-zero")
    move(opened, account=account, amount=str(-held))

    assert opened.books.balance("j1", pool) == 0


def test_what_open_rounds_may_take_back_from_the_reserve_is_not_adjusted_away(opened: World) -> None:
    """Their refunds would bring it below zero, which it never is: a retirement would hand on a debt."""
    for number in range(8):
        opened.settle(hand("1"), round_id=f"filled-{number}")

    ask(opened, account="reserve", amount="-40.01").problem(422, "below-zero")
    move(opened, account="reserve", amount="-40")
    opened.settle(dead("1"), round_id="filled-8")
    opened.cancel(round_id="filled-9")

    assert opened.books.pools("j1").reserve == 0
    assert opened.books.mismatches() == ()


def test_what_the_meter_holds_of_the_house_is_not_adjusted(opened: World) -> None:
    ask(opened, amount="-451").problem(422, "below-zero")


def test_the_meter_is_not_adjusted_above_its_limit(world: World) -> None:
    world.open(base_amount="990", settings={"limit": "1000"})
    world.bet(bet())

    ask(world, amount="9.56").problem(422, "above-limit")
    move(world, amount="9.55")
    assert (world.meter()["amount_exact"], world.meter()["overflow"]) == ("1000", "0")


def test_a_meter_beyond_its_limit_is_adjusted_downwards(world: World) -> None:
    world.open(base_amount="1000", settings={"limit": "1000"})
    world.bet(bet())

    move(world, amount="-0.20")

    assert world.meter()["overflow"] == "0.25"


def test_players_money_below_zero_is_filled_before_it_is_adjusted(world: World) -> None:
    """A late reversal took more than a partial award had left of the players' part."""
    world.open(CYBER)
    for round_id in ("early", "winner"):
        world.bet(bet(), round_id=round_id)
    world.settle(hand("1", STRAIGHT_FLUSH), round_id="winner")
    world.cancel(round_id="early")
    before = world.books.pools("j1")
    assert before.meter_players == Decimal("-0.7")

    ask(world, request_id="q0", amount="-0.1").problem(422, "below-zero")
    move(world, amount="0.30")

    after = world.books.pools("j1")
    assert (after.meter_players, after.meter_house) == (Decimal("0.30"), before.meter_house - Decimal("0.7"))


NO_ADJUSTMENTS: Final[tuple[Body, ...]] = (
    {"amount": "0"},
    {"amount": "-0.0"},
    {"amount": "1e2"},
    {"amount": "NaN"},
    {"amount": "Infinity"},
    {"amount": 100},
    {"amount": True},
    {"amount": "1" + "0" * 15},
    {"amount": "0." + "0" * 18 + "1"},
    {"amount": "9" * 5000},
    {"account": "house:margin"},
    {"account": ["meter"]},
    {"cause": "because"},
    {"cause": None},
    {"document": ""},
    {"document": "a\u0000b"},
    {"jackpot_id": "j/1"},
    {"more": "1"},
)


def test_an_adjustment_that_cannot_be_is_refused_and_writes_nothing(opened: World, subtests: pytest.Subtests) -> None:
    ask(opened, amount="-99999").problem(422, "below-zero")

    for number, stated in enumerate(NO_ADJUSTMENTS):
        with subtests.test(stated=stated):
            before, request_id = opened.books.counts(), f"q{number}"

            code = ask(opened, request_id=request_id, **stated).body["code"]
            assert ask(opened, request_id=request_id, **stated).problem(422, code)["code"] in {
                "amount-invalid",
                "payload-invalid",
            }

            assert opened.books.counts() == before


def test_an_adjustment_states_everything(opened: World, subtests: pytest.Subtests) -> None:
    for missing in ("account", "amount", "document", "cause", "jackpot_id"):
        with subtests.test(missing=missing):
            payload = {name: value for name, value in adjustment().items() if name != missing}

            answer = opened.ask("adjustment", payload, request_id=f"without-{missing}")

            answer.problem(422, "payload-invalid", f"/payload/{missing}")


def test_every_cause_of_the_closed_list_is_taken(opened: World, subtests: pytest.Subtests) -> None:
    for cause in Cause:
        with subtests.test(cause=cause):
            assert ask(opened, request_id=cause.value, cause=cause.value).status == 201


def test_of_two_requests_against_one_state_the_second_is_stale(opened: World) -> None:
    ask(opened, request_id="q1").ok(201)
    ask(opened, request_id="q2").ok(201)
    opened.bet(bet(), round_id="new")  # It makes nothing stale.
    opened.approve("q1").ok()

    opened.approve("q2").problem(409, "change-stale")


def test_a_request_made_before_a_hit_is_stale_after_it(opened: World) -> None:
    ask(opened).ok(201)
    opened.bet(bet(), round_id="hit")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="hit")

    opened.approve().problem(409, "change-stale")


def test_the_house_takes_back_seed_down_to_what_the_cycle_was_promised(world: World) -> None:
    world.open(base_amount="1000", settings={"reset_amount": "300"})
    for number in range(10):
        world.bet(bet(stake_minor=10_000), round_id=f"filled-{number}")
    ask(world, "seed-recovery", amount="450.01").problem(422, "seed-committed")

    done = move(world, "seed-recovery", amount="450")

    assert done["after"]["pools"] == {
        "meter_players": "450",
        "meter_house": "550",
        "reserve": "50",
        "prize_fund": "318.4",
    }
    assert world.books.moved("j1", "house:seed", "recovery") == 450
    assert world.meter()["amount_exact"] == "1000"


def test_in_later_cycles_the_reset_amount_is_what_was_promised(world: World) -> None:
    world.open(base_amount="1000", settings={"reset_amount": "300"})
    world.bet(bet(), round_id="hit")
    world.settle(hand("1", ROYAL_FLUSH), round_id="hit")
    world.bet(bet(stake_minor=10_000), round_id="filled")

    ask(world, "seed-recovery", amount="45.01").problem(422, "seed-committed")
    move(world, "seed-recovery", amount="45")

    assert world.meter()["amount_exact"] == "300"


def test_of_a_meter_the_house_takes_back_no_more_than_is_its_own(world: World) -> None:
    world.open(base_amount="10")
    for number in range(10):
        world.bet(bet(stake_minor=10_000), round_id=f"filled-{number}")

    ask(world, "seed-recovery", amount="10.01").problem(422, "seed-committed")
    ask(world, "seed-recovery", amount="0").problem(422, "amount-invalid")
    move(world, "seed-recovery", amount="10")

    assert world.books.pools("j1").meter_house == 0


def test_a_limit_counts_for_what_is_on_offer_after_a_recovery(world: World) -> None:
    world.open(base_amount="1000", settings={"limit": "1000"})
    world.bet(bet(stake_minor=10_000))

    ask(world, "seed-recovery", amount="45.01").problem(422, "seed-committed")
    move(world, "seed-recovery", amount="45")
    assert (world.meter()["amount_exact"], world.meter()["overflow"]) == ("1000", "0")


def test_a_recovery_is_taken_back_by_a_negative_one_as_far_as_the_limit_lets_the_meter_offer_it(world: World) -> None:
    world.open(base_amount="1000", settings={"limit": "1045", "reset_amount": "300"})
    world.bet(bet(stake_minor=10_000))
    move(world, "seed-recovery", amount="45")
    before = world.books.pools("j1")

    ask(world, "seed-recovery", amount="-45.01", request_id="q2").problem(422, "above-limit")
    move(world, "seed-recovery", amount="-45", request_id="q3")

    assert before.meter_house == 955
    assert world.books.pools("j1").meter_house == 1000
    assert world.books.balance("j1", "house:seed") == -1000


def test_a_prize_fund_is_adjusted_below_zero_where_its_like_stands(world: World) -> None:
    world.open()
    world.bet(bet())
    world.settle(hand("1", STRAIGHT_FLUSH))
    move(world, "prize-fund-true-up")

    move(world, account="prize_fund", amount="-2499.6816", cause="other-documented", request_id="q2")

    assert world.books.pools("j1").prize_fund == Decimal("-2499.6816")
    assert world.books.balance("j1", "house:adjustments") == 0


def test_a_prize_fund_is_trued_up_to_zero_whatever_its_sign(world: World) -> None:
    world.open()
    world.bet(bet())
    ask(world, "prize-fund-true-up").ok(201)
    world.settle(hand("1", STRAIGHT_FLUSH))
    assert world.books.pools("j1").prize_fund == Decimal("-2499.6816")

    assert world.approve().ok()["effect"]["after"]["amount"] == "2499.6816"
    assert world.books.pools("j1").prize_fund == 0
    world.bet(bet(), round_id="r2")
    move(world, "prize-fund-true-up", request_id="q2")

    assert world.books.pools("j1").prize_fund == 0
    assert world.books.balance("j1", "house:adjustments") == Decimal("-2499.6816") + Decimal("0.3184")
    assert world.books.balance("j1", "house:margin") == 2 * Decimal("0.1816")


def test_a_prize_fund_is_trued_up_in_part_and_never_beyond_zero(opened: World) -> None:
    for amount in ("1", "-318.41", "0"):
        ask(opened, "prize-fund-true-up", amount=amount).problem(422, "amount-invalid")
    move(opened, "prize-fund-true-up", amount="-18.4")

    assert opened.books.pools("j1").prize_fund == 300


def test_a_prize_fund_at_zero_has_nothing_to_be_trued_up(world: World) -> None:
    world.open()
    ask(world, "prize-fund-true-up").problem(422, "amount-invalid")


@pytest.mark.parametrize("kind", ["adjustment", "seed-recovery", "prize-fund-true-up"])
def test_no_money_is_moved_in_an_unknown_jackpot(opened: World, kind: str) -> None:
    amount = {"amount": "1"} if kind != "adjustment" else {}
    ask(opened, kind, **{"jackpot_id": "j9", **amount}).problem(404, "jackpot-unknown")
