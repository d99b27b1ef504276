"""Dead hands are refunded or play on, forfeited ones get nothing, large awards are held. Decisions 15 to 17, 23."""

from decimal import Decimal

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    ROYAL_FLUSH,
    ROYAL_FLUSH_TOO,
    STRAIGHT_FLUSH,
    dead,
    forfeited,
    hand,
)
from tests.support.payouts import held_from
from tests.support.world import CYBER, SENECA, World


def test_a_dead_hand_is_refunded_and_has_no_part_in_the_share(world: World) -> None:
    world.open(base_amount="999.55")
    world.bet(bet("winner", hand="1"), bet("misdealt", hand="2", currency="GBP", stake_minor=500))

    settlement = world.settle(hand("1", ROYAL_FLUSH), dead("2", ("2s", "3s", "4s", "5s", "6s", "7s")))

    assert settlement["refunds"] == [
        {"bet_id": "misdealt", "player_id": "player-of-misdealt", "amount_minor": 500, "currency": "GBP"}
    ]
    assert Decimal(settlement["meter_before"]) == 1000
    assert Decimal(settlement["total_stake_base"]) == 1
    assert [(award["bet_id"], award["amount_minor"]) for award in settlement["awards"]] == [("winner", 100_000)]
    assert world.books.balance("j1", "casino:c1", "GBP") == 0
    assert world.books.pools("j1") == Pools(Decimal("0.05"), Decimal(0), Decimal(0), Decimal("0.3184"))


def test_scenario_50_bets_on_a_dead_hand_that_play_on_share_as_the_others(world: World) -> None:
    world.open(base_amount="999.10", settings={"dead_hand": "play-on"})
    world.bet(bet("winner", hand="1"), bet("misdealt", hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), dead("2", ("2s", "3s")))

    assert settlement["refunds"] == []
    assert Decimal(settlement["meter_before"]) == 1000
    assert Decimal(settlement["total_stake_base"]) == 2
    assert [(award["bet_id"], award["amount_minor"]) for award in settlement["awards"]] == [
        ("misdealt", 50_000),
        ("winner", 50_000),
    ]
    assert world.books.balance("j1", "casino:c1") == 998
    assert world.round()["settlement"]["refunds"] == []
    world.put_result(hand("1", ROYAL_FLUSH), dead("2", ("2s", "3s"))).ok(200)


@pytest.mark.parametrize(
    ("dead_hand", "refunds", "paid"), [("refund", ["misdealt"], 999_993), ("play-on", [], 1_000_000)]
)
def test_scenario_50_at_seneca_the_parts_of_a_dead_hand_leave_the_meter_or_stay(
    world: World, dead_hand: str, refunds: list[str], paid: int
) -> None:
    world.open(SENECA, base_amount="99998.60", settings={"dead_hand": dead_hand})
    world.bet(bet("misdealt", hand="1"), bet("lucky", hand="2"))

    settlement = world.settle(dead("1"), hand("2", STRAIGHT_FLUSH))

    assert [refund["bet_id"] for refund in settlement["refunds"]] == refunds
    assert [(award["bet_id"], award["amount_minor"]) for award in settlement["awards"]] == [("lucky", paid)]


def test_scenario_50_the_cards_of_a_dead_hand_hit_nothing_though_its_bets_play_on(world: World) -> None:
    world.open(base_amount="1000", settings={"dead_hand": "play-on"})
    world.bet(bet("misdealt", hand="1"), bet("stays", hand="2"))

    settlement = world.settle(dead("1", ROYAL_FLUSH), hand("2", FLUSH))

    assert (settlement["refunds"], settlement["cycle_after"]) == ([], 1)
    assert [(award["bet_id"], award["tier"]) for award in settlement["awards"]] == [("stays", "flush")]


def test_scenario_50_a_round_keeps_what_it_was_opened_under(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("misdealt", hand="1"), bet("winner", hand="2"))
    world.change("rules", {"jackpot_id": "j1", "settings": {"dead_hand": "play-on"}})
    world.bet(bet("hit"), round_id="hit")
    world.settle(hand("1", ROYAL_FLUSH), round_id="hit")

    assert [refund["bet_id"] for refund in world.settle(dead("1"), hand("2", FLUSH))["refunds"]] == ["misdealt"]

    world.bet(bet("again"), round_id="new")
    assert world.settle(dead("1"), round_id="new")["refunds"] == []


def test_scenario_50_a_correction_to_a_dead_hand_that_plays_on_refunds_nothing(world: World) -> None:
    world.open(base_amount="1000", settings={"dead_hand": "play-on"})
    world.bet(bet("b1"), bet("b2", hand="2"))
    world.settle(hand("1", FLUSH), hand("2", STRAIGHT_FLUSH))

    effect = correct(world, dead("1"), hand("2", STRAIGHT_FLUSH))

    assert effect["after"]["refunds"] == []
    assert [award["bet_id"] for award in effect["after"]["reversed"]] == ["b1", "b2"]
    assert [award["bet_id"] for award in effect["after"]["awards"]] == ["b2"]
    assert world.books.balance("j1", "casino:c1") == 2498


def test_the_cards_of_a_forfeited_hand_hit_nothing(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("quit", hand="1"), bet("stays", hand="2"))

    settlement = world.settle(forfeited("1", ROYAL_FLUSH), hand("2", FLUSH))

    assert (settlement["refunds"], settlement["cycle_after"]) == ([], 1)
    assert [(award["bet_id"], award["tier"]) for award in settlement["awards"]] == [("stays", "flush")]
    assert Decimal(settlement["total_stake_base"]) == 1
    assert world.books.pools("j1").meter == Decimal("1000.90")


def test_a_forfeited_bettor_does_not_share_and_gets_no_refund(world: World) -> None:
    world.open(base_amount="999.10")
    world.bet(bet("quit", hand="1"), bet("winner", hand="2"))

    settlement = world.settle(forfeited("1"), hand("2", ROYAL_FLUSH))

    assert [(award["bet_id"], award["amount_minor"]) for award in settlement["awards"]] == [("winner", 100_000)]
    assert settlement["refunds"] == []
    assert world.books.balance("j1", "casino:c1") == 998


def test_the_bet_count_of_a_result_includes_dead_and_forfeited_hands(world: World) -> None:
    world.open()
    world.bet(bet("a", hand="1"), bet("b", hand="2"), bet("c", hand="3"))
    world.void("c", "tombstone")
    hands = (dead("1"), forfeited("2"))

    world.put_result(*hands, bet_count=0).problem(409, "bet-count-mismatch")
    settled = world.put_result(*hands, bet_count=2).ok(201)

    assert settled["round"]["bet_count"] == 2
    assert [refund["bet_id"] for refund in settled["settlement"]["refunds"]] == ["a"]


def test_every_hand_that_carries_a_bet_must_be_in_the_result(world: World) -> None:
    world.open()
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    before = world.books.counts()

    problem = world.put_result(hand("1")).problem(422, "hand-missing", "/hands")

    assert problem["hands"] == ["2"]
    assert world.books.counts() == before


def test_one_award_that_reaches_a_tier_holds_all_that_its_pool_pays(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250")})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))

    settlement = world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))

    assert [(award["amount_minor"], award["state"]) for award in settlement["awards"]] == [
        (25_000, "held"),
        (2_500, "held"),
    ]
    assert world.books.balance("j1", "awards:held") == 275
    assert world.books.moved("j1", "casino:c1", "award") == 0
    assert world.books.pools("j1").prize_fund == Decimal("0.6368") - 275


def test_awards_below_every_tier_are_payable_whatever_they_come_to_together(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("250.01")})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))

    settlement = world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))

    assert {award["state"] for award in settlement["awards"]} == {"payable"}
    assert world.books.balance("j1", "awards:held") == 0


def test_awards_that_are_held_hold_none_of_another_pool(world: World) -> None:
    world.open(base_amount="999.10", settings={"payout_tiers": held_from("500")})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2", FLUSH))

    states = {(award["bet_id"], award["tier"]): award["state"] for award in settlement["awards"]}
    assert states == {("a", "royal_flush"): "held", ("b", "royal_flush"): "held", ("b", "flush"): "payable"}
    assert world.books.balance("j1", "awards:held") == 1000
    assert world.books.moved("j1", "casino:c1", "award") == 25
    assert settlement["cycle_after"] == 2


def test_held_awards_are_held_in_the_base_currency_at_their_cost(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("1")})
    world.bet(bet(currency="GBP"))

    settlement = world.settle(hand("1", FLUSH))

    assert [(award["amount_minor"], award["cost_base"]) for award in settlement["awards"]] == [(2500, "29.25")]
    assert world.books.balance("j1", "awards:held") == Decimal("29.25")
    assert world.books.balance("j1", "casino:c1", "GBP") == -1


def test_at_cyber_a_dead_hand_gives_back_its_part_before_the_meter_is_read(world: World) -> None:
    world.open(CYBER, base_amount="99999.30")
    world.bet(bet("a", player_id="ann", hand="1"), bet("b", player_id="ann", hand="2"))

    settlement = world.settle(dead("1"), hand("2", STRAIGHT_FLUSH))

    assert Decimal(settlement["meter_before"]) == 100_000
    assert [award["amount_minor"] for award in settlement["awards"]] == [1_000_000]


def test_two_royal_flushes_at_live_still_share_once(world: World) -> None:
    world.open(base_amount="999.10")
    world.bet(bet("a", hand="1"), bet("b", hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2", ROYAL_FLUSH_TOO))

    awards = [(award["bet_id"], award["tier"], award["amount_minor"]) for award in settlement["awards"]]
    assert awards == [("a", "royal_flush", 50_000), ("b", "royal_flush", 50_000)]
    assert settlement["cycle_after"] == 2
