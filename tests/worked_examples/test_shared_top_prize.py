"""Scenarios 20 to 28: a royal flush at Live Caribbean Stud is shared by the bettors of its round."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest

from jackpot_service.domain.accounts import Pools
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FULL_HOUSE, NOTHING, NOTHING_TOO, ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.world import World

THREE_CURRENCIES = (
    bet("e", hand="1"),
    bet("g", hand="1", currency="GBP"),
    bet("s", hand="2", currency="SEK", stake_minor=1000),
)


def paid(settlement: Body) -> dict[str, tuple[int, str]]:
    return {award["bet_id"]: (award["amount_minor"], award["currency"]) for award in settlement["awards"]}


def cost(settlement: Body) -> Decimal:
    return sum((Decimal(award["cost_base"]) for award in settlement["awards"]), Decimal(0))


def test_scenario_20_a_euro_a_pound_and_ten_crowns_share_5434_05(world: World) -> None:
    world.open(base_amount="5432.68065")

    accepted = world.bet(*THREE_CURRENCIES)
    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2"))

    assert Decimal(accepted["meter"]["amount_exact"]) == Decimal("5434.05")
    assert Decimal(accepted["payout_per_unit"]) == Decimal("1785.7541899441")
    assert Decimal(settlement["meter_before"]) == Decimal("5434.05")
    assert Decimal(settlement["total_stake_base"]) == Decimal("3.043")
    assert paid(settlement) == {"e": (178575, "EUR"), "g": (178575, "GBP"), "s": (1785754, "SEK")}
    assert {award["tier"] for award in settlement["awards"]} == {"royal_flush"}
    assert {award["state"] for award in settlement["awards"]} == {"payable"}
    assert cost(settlement) == Decimal("5434.040742")
    assert Decimal(settlement["carried"]) == Decimal("0.009258")
    assert settlement["cycle_after"] == 2
    assert world.books.balance("j1", "casino:c1", "EUR") == Decimal("1784.75")
    assert world.books.balance("j1", "casino:c1", "GBP") == Decimal("1784.75")
    assert world.books.balance("j1", "casino:c1", "SEK") == Decimal("17847.54")
    # 5 % of the round's 3.043 and what is carried are the next meter; it needs no seed at a reset amount of 0.
    assert world.books.pools("j1").meter == Decimal("0.15215") + Decimal("0.009258")


def test_scenario_21_a_payout_is_less_than_a_minor_unit_below_its_share(world: World) -> None:
    world.open(base_amount="777777.777777777777777777")
    stakes = {"EUR": (1, 99, 100, 3333), "GBP": (7, 250), "SEK": (1, 12345), "JPY": (1, 16000)}
    bets = [
        bet(f"{currency}-{stake}", currency=currency, stake_minor=stake)
        for currency, minors in stakes.items()
        for stake in minors
    ]
    world.bet(*bets)

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    factor = Fraction(settlement["meter_before"]) / Fraction(settlement["total_stake_base"])
    assert len(settlement["awards"]) == len(bets)
    for award in settlement["awards"]:
        short = int(award["bet_id"].partition("-")[2]) * factor - award["amount_minor"]
        assert 0 <= short < 1, award
    assert cost(settlement) <= Decimal(settlement["meter_before"])
    assert Decimal(settlement["carried"]) == Decimal(settlement["meter_before"]) - cost(settlement)


def test_scenario_22_a_rate_that_moves_before_the_result_changes_no_payout(world: World) -> None:
    world.open(base_amount="5432.68065")
    world.bet(*THREE_CURRENCIES)

    world.publish(GBP="1.30", SEK="0.0873")
    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2"))

    assert paid(settlement) == {"e": (178575, "EUR"), "g": (178575, "GBP"), "s": (1785754, "SEK")}
    assert Decimal(settlement["total_stake_base"]) == Decimal("3.043")
    assert world.round()["rate_sheet"]["number"] == 1
    world.bet(bet(currency="GBP"), round_id="r2")
    assert Decimal(world.round("r2")["bets"][0]["contribution"]["value"]) == Decimal("1.30")


def test_scenario_23_a_folded_bettor_shares_and_a_player_without_a_bet_or_of_another_round_does_not(
    world: World,
) -> None:
    world.open(base_amount="998.65", tables=("T1", "T2"))
    world.bet(bet("elsewhere"), round_id="other")
    world.bet(bet("next-door"), table_id="T2")
    world.bet(bet("winner", hand="1"), bet("folded", hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING), hand("without-a-bet", NOTHING_TOO))

    assert Decimal(settlement["meter_before"]) == Decimal("1000.45")
    assert paid(settlement) == {"folded": (50022, "EUR"), "winner": (50022, "EUR")}
    assert world.round("other")["round"]["state"] == "open"


def test_scenario_23_a_royal_flush_on_a_hand_without_a_bet_hits_nothing(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2"))

    assert settlement["awards"] == []
    assert settlement["cycle_after"] == 1
    assert world.books.pools("j1").meter == Decimal("1000.45")


def test_scenario_23_a_sharer_with_a_prize_of_the_own_hand_keeps_both(world: World) -> None:
    world.open(base_amount="999.10")
    world.bet(bet("a", hand="1"), bet("b", hand="2"))

    settlement = world.settle(hand("1", ROYAL_FLUSH), hand("2", FULL_HOUSE))

    awards = [(award["bet_id"], award["tier"], award["amount_minor"]) for award in settlement["awards"]]
    assert awards == [("a", "royal_flush", 50000), ("b", "full_house", 5000), ("b", "royal_flush", 50000)]


def test_scenario_24_three_equal_bettors_get_33_33_each_whatever_the_order(world: World) -> None:
    for number, (order, hands) in enumerate(zip(permutations("abc"), permutations("123"), strict=True)):
        jackpot_id, table_id = f"j{number}", f"T{number}"
        world.open(jackpot_id=jackpot_id, base_amount="98.65", tables=(table_id,))
        world.bet(*(bet(name, hand=hands[index]) for index, name in enumerate(order)), table_id=table_id)
        cards = {"1": ROYAL_FLUSH, "2": NOTHING, "3": NOTHING_TOO}

        settlement = world.settle(*(hand(name, cards[name]) for name in hands), table_id=table_id)

        assert Decimal(settlement["meter_before"]) == 100
        assert paid(settlement) == {"a": (3333, "EUR"), "b": (3333, "EUR"), "c": (3333, "EUR")}
        assert Decimal(settlement["carried"]) == Decimal("0.01")


def test_scenario_25_after_the_hit_the_reserve_becomes_the_meter(world: World) -> None:
    world.open(base_amount="1000", settings={"largest_stake": "1000000"})
    world.bet(bet(stake_minor=64_974_000))
    before = world.books.pools("j1")

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert before.reserve == 32_487
    assert world.books.pools("j1") == Pools(Decimal(32_487), Decimal(0), Decimal(0), before.prize_fund)
    assert Decimal(settlement["meter_after"]) == 32_487
    assert Decimal(settlement["reserve_after"]) == 0
    assert Decimal(settlement["house_seed"]) == 0
    assert world.books.moved("j1", "pool:reserve", "refill") == -32_487


def test_scenario_25_what_the_reserve_lacks_to_the_reset_amount_is_a_house_seed(world: World) -> None:
    world.open(base_amount="0", settings={"reset_amount": "50000", "largest_stake": "1000000"})
    world.bet(bet(stake_minor=64_974_000))

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["house_seed"]) == 17_513
    assert Decimal(settlement["meter_after"]) == 50_000
    pools = world.books.pools("j1")
    assert pools == Pools(Decimal(32_487), Decimal(17_513), Decimal(0), pools.prize_fund)
    assert world.books.balance("j1", "house:seed") == -17_513


def test_scenario_26_what_is_no_payable_cent_is_carried(world: World) -> None:
    world.open(base_amount="9999.673456")
    world.bet(bet())

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["meter_before"]) == Decimal("10000.123456")
    assert paid(settlement) == {"b1": (1_000_012, "EUR")}
    assert Decimal(settlement["carried"]) == Decimal("0.003456")
    assert world.books.pools("j1").meter == Decimal("0.053456")


def test_scenario_27_the_first_bet_of_the_day_wins_2500_and_the_prize_fund_owes_it(world: World) -> None:
    world.open()
    world.bet(bet())

    settlement = world.settle(hand("1", STRAIGHT_FLUSH))

    assert paid(settlement) == {"b1": (250_000, "EUR")}
    assert Decimal(settlement["prize_fund_after"]) == Decimal("-2499.6816")
    pools = world.books.pools("j1")
    assert pools.prize_fund == Decimal("-2499.6816")
    assert (pools.meter, pools.reserve) == (Decimal("0.45"), Decimal("0.05"))
    assert (settlement["cycle_after"], settlement["carried"]) == (1, None)
    assert world.books.balance("j1", "casino:c1") == 2499


@pytest.mark.parametrize("first", ["T1", "T2"])
def test_scenario_28_two_tables_hit_one_after_the_other_and_a_bet_between_counts_for_the_second(
    world: World, first: str
) -> None:
    second = {"T1": "T2", "T2": "T1"}[first]
    world.open(base_amount="999.10", tables=("T1", "T2", "T3"))
    world.bet(bet("one"), table_id="T1")
    world.bet(bet("two"), table_id="T2")

    settled = world.settle(hand("1", ROYAL_FLUSH), table_id=first)
    world.bet(bet("between", stake_minor=10_000), table_id="T3")
    two = world.settle(hand("1", ROYAL_FLUSH), table_id=second)

    assert [award["amount_minor"] for award in settled["awards"]] == [100_000]
    assert (settled["cycle_after"], two["cycle_after"]) == (2, 3)
    # The two rounds' reserve of 0.10 started the second jackpot; the bet between put 45 into it.
    assert Decimal(two["meter_before"]) == Decimal("45.10")
    assert [award["amount_minor"] for award in two["awards"]] == [4_510]
    hits = world.get("/v1/jackpots/j1/hits").ok()["items"]
    assert [(hit["cycle"], hit["table_id"]) for hit in hits] == [(2, second), (1, first)]
    assert [(Decimal(hit["paid"]), hit["currency"]) for hit in hits] == [(Decimal("45.10"), "EUR"), (1000, "EUR")]
    assert Decimal(two["meter_after"]) == 5
