"""Settled rounds found wrong, corrected by two people: before and after the next hit, in figures. Decision 25."""

from decimal import Decimal

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.correcting import ask, awards, correct, pay, posted, reject, reversed_awards
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    NOTHING,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    dead,
    forfeited,
    hand,
)
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow


def states(world: World, round_id: str = "r1") -> list[tuple[str, int, str]]:
    """Every award of a round by every verdict: tier, amount, state."""
    record = world.round(round_id)
    verdicts = [record["settlement"], *record["corrections"]]
    return [
        (award["tier"], award["amount_minor"], award["state"]) for verdict in verdicts for award in verdict["awards"]
    ]


def hit_elsewhere(world: World) -> None:
    """Another table wins the jackpot, with a bet of EUR 1."""
    world.bet(bet("elsewhere"), table_id="T2", round_id="hit")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T2", round_id="hit")


# (a) Three of a kind that was a straight: the prize fund bears it, whatever became of the meter.


def test_three_of_a_kind_found_to_be_a_straight_is_paid_as_one(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    assert world.books.pools("j1").prize_fund == Decimal("-2.6816")

    effect = correct(world, hand("1", STRAIGHT))

    assert reversed_awards(effect) == [("a", "three_of_a_kind", 300)]
    assert awards(effect) == [("a", "straight", 1000)]
    assert posted(effect) == [
        ("casino:c1", "EUR", "-3", "correction"),
        ("pool:prize_fund", "EUR", "3", "correction"),
        ("pool:prize_fund", "EUR", "-10", "correction"),
        ("casino:c1", "EUR", "10", "correction"),
    ]
    assert world.books.pools("j1") == Pools(Decimal("0.45"), Decimal(1000), Decimal("0.05"), Decimal("-9.6816"))
    assert world.books.balance("j1", "casino:c1") == 9


def test_after_the_next_hit_a_fixed_prize_is_corrected_all_the_same(world: World) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    hit_elsewhere(world)
    before = world.books.pools("j1")

    correct(world, hand("1", STRAIGHT))

    after = world.books.pools("j1")
    assert (after.meter, after.reserve) == (before.meter, before.reserve)
    assert after.prize_fund == before.prize_fund - 7
    assert world.books.balance("j1", "house:adjustments") == 0


def test_the_first_verdict_stays_readable_beside_the_one_in_force(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    first = world.settle(hand("1", THREE_OF_A_KIND))

    correct(world, hand("1", STRAIGHT))

    record = world.round()
    assert record["settlement"]["meter_before"] == first["meter_before"]
    assert record["hands"] == [{"hand": "1", "status": "dealt", "cards": sorted(THREE_OF_A_KIND)}]
    assert states(world) == [("three_of_a_kind", 300, "reversed"), ("straight", 1000, "payable")]
    (correction,) = record["corrections"]
    assert (correction["number"], correction["request_id"]) == (1, "q1")
    assert correction["verdict"]["result"]["hands"] == [["1", "dealt", sorted(STRAIGHT)]]
    assert (record["round"]["state"], record["round"]["bet_count"]) == ("settled", 1)


def test_the_effect_shows_the_verdict_before_and_after(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))

    requested = ask(world, hand("1", STRAIGHT)).ok(201)["effect"]
    done = world.approve().ok()["effect"]

    assert done["before"]["number"] == 0
    assert [(award["tier"], award["state"]) for award in done["before"]["awards"]] == [("three_of_a_kind", "payable")]
    assert done["before"]["charged_to"] == {"pool:prize_fund": "3"}
    assert done["after"]["charged_to"] == {"pool:prize_fund": "10"}
    assert [entry["kind"] for entry in done["entries"]] == ["round_corrected"]
    assert requested["after"] == done["after"]


def test_prizes_are_corrected_in_each_players_own_currency(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP"), bet("b", hand="2", currency="SEK", stake_minor=1000))
    world.settle(hand("1", FLUSH), hand("2"))

    effect = correct(world, hand("1"), hand("2", STRAIGHT))

    assert (reversed_awards(effect), awards(effect)) == ([("a", "flush", 2500)], [("b", "straight", 10_000)])
    assert world.books.balance("j1", "casino:c1", "GBP") == -1
    assert world.books.balance("j1", "casino:c1", "SEK") == 90
    assert world.books.pools("j1").prize_fund == Decimal("0.372528") + Decimal("0.2779632") - Decimal("8.73")


# (b) A royal flush that was none: "malfunction voids all pays and play".


def false_royal(world: World) -> Body:
    """Two bettors share EUR 1,000.00 for a royal flush; the house fills the next meter up to 500."""
    world.open(base_amount="999.10", settings={"reset_amount": "500"}, tables=("T1", "T2"))
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2"))
    assert [award["amount_minor"] for award in settlement["awards"]] == [50_000, 50_000]
    assert world.books.pools("j1") == Pools(Decimal("0.10"), Decimal("499.90"), Decimal(0), Decimal("0.6368"))
    return settlement


def test_before_the_next_hit_the_meter_gets_back_what_a_false_royal_flush_cost(world: World) -> None:
    false_royal(world)
    world.bet(bet("c"), round_id="r2")

    effect = correct(world, hand("1", FLUSH), hand("2"))

    assert reversed_awards(effect) == [("a", "royal_flush", 50_000), ("b", "royal_flush", 50_000)]
    assert awards(effect) == [("a", "flush", 2500)]
    assert posted(effect) == [
        ("casino:c1", "EUR", "-1000", "correction"),
        ("pool:meter:house", "EUR", "999.1", "correction"),
        ("pool:meter:players", "EUR", "0.9", "correction"),
        ("pool:prize_fund", "EUR", "-25", "correction"),
        ("casino:c1", "EUR", "25", "correction"),
    ]
    pools = world.books.pools("j1")
    assert pools == Pools(Decimal("1.45"), Decimal("1499.00"), Decimal("0.05"), Decimal("0.9552") - 25)
    assert world.books.balance("j1", "house:adjustments") == 0
    assert world.meter()["cycle"] == 2


def test_after_the_next_hit_what_a_false_royal_flush_cost_is_the_houses(world: World) -> None:
    false_royal(world)
    hit_elsewhere(world)
    before = world.books.pools("j1")
    assert before.meter == 500

    correct(world, hand("1", FLUSH), hand("2"))

    after = world.books.pools("j1")
    assert (after.meter, after.reserve) == (before.meter, before.reserve)
    assert after.prize_fund == before.prize_fund - 25
    assert world.books.balance("j1", "house:adjustments") == 1000
    assert states(world) == [
        ("royal_flush", 50_000, "reversed"),
        ("royal_flush", 50_000, "reversed"),
        ("flush", 2500, "payable"),
    ]


def test_a_true_royal_flush_is_shared_anew_when_a_bettors_hand_was_dead(world: World) -> None:
    false_royal(world)
    before = world.books.pools("j1")

    effect = correct(world, hand("1", ROYAL_FLUSH), dead("2"))

    assert awards(effect) == [("a", "royal_flush", 100_000)]
    assert world.books.pools("j1").meter == before.meter
    assert world.books.balance("j1", "casino:c1") == 999
    assert world.books.balance("j1", "house:adjustments") == Decimal("-0.50")


# (c) A royal flush that was overlooked.


def overlooked_royal(world: World) -> None:
    """A royal flush at a meter of EUR 1,000.00 that nobody saw; a bet of another round follows."""
    world.open(base_amount="999.55", tables=("T1", "T2"))
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))


def test_before_the_next_hit_an_overlooked_royal_flush_takes_the_meter_that_it_was_worth(world: World) -> None:
    overlooked_royal(world)
    world.bet(bet("b"), round_id="r2")

    effect = correct(world, hand("1", ROYAL_FLUSH))

    assert (effect["after"]["meter"], effect["after"]["weight"]) == ("1000", "1")
    assert awards(effect) == [("a", "royal_flush", 100_000)]
    assert effect["after"]["charged_to"] == {"pool:meter:players": "0.9", "pool:meter:house": "999.1"}
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal("0.45"), Decimal("0.10"), Decimal("0.6368"))
    assert world.books.balance("j1", "house:adjustments") == 0
    assert world.meter()["cycle"] == 1


def test_after_the_next_hit_an_overlooked_royal_flush_is_paid_by_the_house(world: World) -> None:
    overlooked_royal(world)
    hit_elsewhere(world)
    before = world.books.pools("j1")

    effect = correct(world, hand("1", ROYAL_FLUSH))

    assert awards(effect) == [("a", "royal_flush", 100_000)]
    assert effect["after"]["charged_to"] == {}
    assert world.books.pools("j1") == before
    assert world.books.balance("j1", "house:adjustments") == -1000
    assert world.books.balance("j1", "casino:c1") == Decimal("1000.45") + 1000 - 2


def test_what_the_running_meter_no_longer_holds_is_paid_by_the_house(world: World) -> None:
    world.open(CYBER, base_amount="9999.30", settings={"reset_amount": "0"}, tables=("T1", "T2"))
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))
    world.bet(bet("b"), table_id="T2", round_id="r2")
    world.settle(hand("1", STRAIGHT_FLUSH), table_id="T2", round_id="r2")
    assert world.books.pools("j1").meter == Decimal("9000.63")

    effect = correct(world, hand("1", ROYAL_FLUSH))

    assert awards(effect) == [("a", "royal_flush", 1_000_000)]
    assert world.books.pools("j1") == Pools()
    assert world.books.balance("j1", "house:adjustments") == Decimal("-999.37")


def test_a_meter_that_a_correction_brings_below_its_reset_amount_is_filled_by_the_house(world: World) -> None:
    world.open(CYBER, base_amount="9999.30")
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))

    effect = correct(world, hand("1", ROYAL_FLUSH))

    assert awards(effect) == [("a", "royal_flush", 1_000_000)]
    assert effect["after"]["house_seed"] == "10000"
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(10_000))
    assert world.meter()["cycle"] == 1


# Cyber: parts of the meter.


def test_a_tenth_of_the_meter_comes_back_to_whom_it_was_taken_from(world: World) -> None:
    world.open(CYBER, base_amount="99999.30")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(90_000))

    effect = correct(world, hand("1", FLUSH))

    assert (reversed_awards(effect), awards(effect)) == ([("a", "straight_flush", 1_000_000)], [("a", "flush", 5000)])
    assert effect["after"]["entitlements"] == [{"bet_id": "a", "tier": "flush", "amount": "50"}]
    assert effect["after"]["charged_to"] == {"pool:meter:players": "0.7", "pool:meter:house": "49.3"}
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(99_950))


def test_a_seed_that_a_wrong_award_called_for_stays_the_houses_money_in_the_meter(world: World) -> None:
    world.open(CYBER, base_amount="10000")
    world.bet(bet("a"))
    settlement = world.settle(hand("1", STRAIGHT_FLUSH))
    assert Decimal(settlement["house_seed"]) == Decimal("999.37")

    correct(world, hand("1", NOTHING))

    assert world.books.pools("j1") == Pools(Decimal("0.70"), Decimal("10999.37"))


def test_the_players_share_is_filled_before_an_award_of_a_correction_as_before_any_other(world: World) -> None:
    world.open(CYBER, base_amount="20000")
    world.bet(bet("early"), round_id="early")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    world.cancel(round_id="early")
    assert world.books.pools("j1") == Pools(Decimal("-0.70"), Decimal("18001.26"))

    correct(world, hand("1", FLUSH))

    assert world.books.pools("j1") == Pools(Decimal(0), Decimal("19950.70"))


# (d) and (e) What was paid stays paid; a correction may itself be corrected.


def test_what_was_paid_counts_against_what_is_due(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    pay(world, "a")

    effect = correct(world, hand("1", STRAIGHT))

    assert (reversed_awards(effect), awards(effect)) == ([], [("a", "straight", 700)])
    assert world.books.pools("j1").prize_fund == Decimal("0.3184") - 10
    assert world.books.balance("j1", "house:adjustments") == 0
    assert states(world) == [("three_of_a_kind", 300, "paid"), ("straight", 700, "payable")]


def test_what_was_paid_and_is_not_due_is_the_houses_loss_and_no_pools(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    pay(world, "a")

    effect = correct(world, hand("1", NOTHING))

    assert (reversed_awards(effect), awards(effect)) == ([], [])
    assert posted(effect) == [
        ("pool:prize_fund", "EUR", "3", "correction"),
        ("house:adjustments", "EUR", "-3", "correction"),
    ]
    assert world.books.balance("j1", "casino:c1") == 2


def test_a_correction_is_corrected_in_turn_and_the_house_gets_back_what_it_bore(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", THREE_OF_A_KIND))
    pay(world, "a")

    correct(world, hand("1", STRAIGHT), request_id="q1")
    correct(world, hand("1", NOTHING), request_id="q2")
    assert world.books.pools("j1").prize_fund == Decimal("0.3184")
    assert world.books.balance("j1", "house:adjustments") == -3
    effect = correct(world, hand("1", THREE_OF_A_KIND), request_id="q3")

    assert (effect["before"]["number"], effect["after"]["number"]) == (2, 3)
    assert world.books.pools("j1").prize_fund == Decimal("0.3184") - 3
    assert world.books.balance("j1", "house:adjustments") == 0
    assert world.books.balance("j1", "casino:c1") == 2
    assert states(world) == [("three_of_a_kind", 300, "paid"), ("straight", 700, "reversed")]


def test_a_royal_flush_denied_and_granted_again_leaves_the_meter_as_it_was(world: World) -> None:
    false_royal(world)
    before = world.books.pools("j1")

    correct(world, hand("1", FLUSH), hand("2"), request_id="q1")
    effect = correct(world, hand("1", ROYAL_FLUSH), hand("2"), request_id="q2")

    assert awards(effect) == [("a", "royal_flush", 50_000), ("b", "royal_flush", 50_000)]
    assert world.books.pools("j1").meter == before.meter
    assert world.books.pools("j1").prize_fund == before.prize_fund
    assert [state for _, _, state in states(world)] == ["reversed"] * 3 + ["payable"] * 2


def test_a_part_of_a_shared_prize_that_was_paid_stays_with_its_player(world: World) -> None:
    false_royal(world)
    pay(world, "b")

    effect = correct(world, hand("1", FLUSH), hand("2"))

    assert (reversed_awards(effect), awards(effect)) == ([("a", "royal_flush", 50_000)], [("a", "flush", 2500)])
    assert world.books.pools("j1").meter == 1500
    assert world.books.balance("j1", "house:adjustments") == -500


# (f) Dead hands, forfeited hands, and rounds that should have been cancelled.


def test_a_hand_found_dead_is_refunded_at_the_original_figures(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a", hand="1"), bet("b", hand="2", currency="GBP"))
    world.publish(GBP="1.30")
    world.settle(hand("1", THREE_OF_A_KIND), hand("2", STRAIGHT))

    effect = correct(world, hand("1", THREE_OF_A_KIND), dead("2", ("2s",)))

    assert effect["after"]["refunds"] == ["b"]
    assert world.books.balance("j1", "casino:c1", "GBP") == 0
    assert world.books.pools("j1") == Pools(Decimal("0.45"), Decimal(1000), Decimal("0.05"), Decimal("-2.6816"))
    assert world.round()["round"]["bet_count"] == 2


def test_after_the_next_hit_the_meters_part_of_a_hand_found_dead_is_the_houses(world: World) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("a"))
    world.settle(hand("1", NOTHING))
    hit_elsewhere(world)
    before = world.books.pools("j1")

    correct(world, dead("1"))

    after = world.books.pools("j1")
    assert (after.meter, after.reserve) == (before.meter, before.reserve)
    assert after.prize_fund == before.prize_fund - Decimal("0.3184")
    assert world.books.balance("j1", "house:adjustments") == Decimal("-0.50")


def test_a_hand_that_was_not_dead_contributes_again(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(dead("1"))
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(1000))

    effect = correct(world, hand("1", STRAIGHT))

    assert awards(effect) == [("a", "straight", 1000)]
    assert world.books.pools("j1") == Pools(Decimal("0.45"), Decimal(1000), Decimal("0.05"), Decimal("-9.6816"))
    assert world.books.balance("j1", "casino:c1") == 9
    assert world.books.moved("j1", "house:margin", "contribution") == Decimal("0.3632")


def test_a_round_that_should_have_been_cancelled_is_corrected_to_hands_that_are_all_dead(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))

    correct(world, dead("1"), dead("2"))

    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(1000))
    assert world.books.balance("j1", "casino:c1") == 0


def test_a_hand_found_forfeited_wins_nothing_and_is_not_refunded(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))

    effect = correct(world, forfeited("1"))

    assert (awards(effect), effect["after"]["refunds"]) == ([], [])
    assert world.books.balance("j1", "casino:c1") == -1


# Held awards.


def test_held_awards_come_back_from_what_is_held_and_new_ones_are_payable_at_once(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    assert world.books.balance("j1", "awards:held") == 25

    correct(world, hand("1", FOUR_OF_A_KIND))

    assert world.books.balance("j1", "awards:held") == 0
    assert world.books.balance("j1", "casino:c1") == 249
    assert states(world) == [("flush", 2500, "reversed"), ("four_of_a_kind", 25_000, "payable")]


def test_an_award_that_was_held_and_approved_comes_back_from_the_casino(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20")})
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    approved = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"}
    world.change("held-awards", approved, request_id="approval")
    assert world.books.balance("j1", "casino:c1") == 24

    correct(world, hand("1", NOTHING))

    assert world.books.balance("j1", "casino:c1") == -1
    assert world.books.balance("j1", "awards:held") == 0
    assert states(world) == [("flush", 2500, "reversed")]


def test_what_was_rejected_does_not_come_back_to_the_meter_twice(world: World) -> None:
    """Of 10,000.00, players' 1.40: 1,000.00 for a straight flush and 50.00 for a flush, both held, one rejected."""
    world.open(CYBER, base_amount="9998.60", settings={"payout_tiers": held_from("1"), "reset_amount": "0"})
    world.bet(bet("a", hand="1"), bet("b", hand="2"))
    world.settle(hand("1", STRAIGHT_FLUSH), hand("2", FLUSH))
    reject(world, "a")
    assert world.books.pools("j1") == Pools(Decimal("1.40"), Decimal("9948.60"))

    effect = correct(world, hand("1", NOTHING), hand("2", FLUSH))

    assert (reversed_awards(effect), awards(effect)) == ([("b", "flush", 5000)], [("b", "flush", 5000)])
    assert effect["after"]["charged_to"] == {"pool:meter:players": "1.4", "pool:meter:house": "48.6"}
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal(9950))
    assert world.books.balance("j1", "awards:held") == 0
    assert world.books.balance("j1", "house:adjustments") == 0
