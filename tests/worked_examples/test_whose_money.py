"""Whose money the meter is, what a limit keeps off it, and who pays for a late reversal. Decisions 10, 11, 12, 14."""

from decimal import Decimal

from jackpot_service.domain.accounts import Pools
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.world import CYBER, World


def test_an_award_takes_the_players_money_first(world: World) -> None:
    world.open(CYBER, base_amount="20000")
    world.bet(bet())

    world.settle(hand("1", STRAIGHT_FLUSH))

    assert world.books.moved("j1", "pool:meter:players", "award") == Decimal("-0.70")
    assert world.books.moved("j1", "pool:meter:house", "award") == Decimal("-1999.37")
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal("18000.63"))


def test_a_partial_award_below_the_reset_amount_is_refilled_by_the_house(world: World) -> None:
    world.open(CYBER, base_amount="9999.30")
    world.bet(bet())

    settlement = world.settle(hand("1", FLUSH))

    assert (settlement["cycle_after"], Decimal(settlement["house_seed"])) == (1, Decimal(50))
    assert world.books.pools("j1").meter == 10_000


def test_a_settlement_that_pays_nothing_from_the_meter_refills_nothing(world: World) -> None:
    world.open(base_amount="0", settings={"reset_amount": "1000"})
    world.bet(bet())

    settlement = world.settle(hand("1", FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [2500]
    assert Decimal(settlement["house_seed"]) == 0
    assert world.books.pools("j1").meter == Decimal("0.45")


def test_players_money_below_zero_is_filled_by_the_house_at_the_next_award_from_the_meter(world: World) -> None:
    world.open(CYBER, base_amount="20000")
    world.bet(bet("a", player_id="ann", hand="1"), bet("b", player_id="ann", hand="2"), round_id="early")
    world.bet(bet(), round_id="first")
    first = world.settle(hand("1", STRAIGHT_FLUSH), round_id="first")
    after_first = world.books.pools("j1")

    world.void("a", "b", round_id="early")
    after_void = world.books.pools("j1")
    world.bet(bet(), round_id="second")
    second = world.settle(hand("1", STRAIGHT_FLUSH), round_id="second")

    assert Decimal(first["meter_before"]) == Decimal("20002.10")
    assert after_first == Pools(Decimal(0), Decimal("18001.89"))
    assert after_void == Pools(Decimal("-1.40"), Decimal("18001.89"))
    assert Decimal(second["meter_before"]) == Decimal("18001.19")
    assert [award["amount_minor"] for award in second["awards"]] == [180_011]
    assert world.books.moved("j1", "pool:meter:players", "fill") == Decimal("0.70")
    assert world.books.moved("j1", "pool:meter:house", "fill") == Decimal("-0.70")
    assert world.books.pools("j1") == Pools(Decimal(0), Decimal("16201.08"))


def test_the_base_amount_starts_the_first_cycle_and_the_reset_amount_every_later_one(world: World) -> None:
    world.open(base_amount="123", settings={"reset_amount": "5000"})
    assert world.meter()["amount"] == "123.00"
    world.bet(bet())

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["meter_after"]) == 5000
    assert world.books.pools("j1") == Pools(Decimal("0.05"), Decimal("4999.95"), Decimal(0), Decimal("0.3184"))
    assert world.books.balance("j1", "house:seed") == Decimal("-5122.95")


def test_at_a_hit_what_a_limit_kept_off_the_offer_goes_to_the_reserve_and_is_not_carried(world: World) -> None:
    world.open(settings={"limit": "1000", "largest_stake": "10000"})
    world.bet(bet(stake_minor=222_300))

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["meter_before"]) == 1000
    assert [award["amount_minor"] for award in settlement["awards"]] == [100_000]
    assert Decimal(settlement["carried"]) == 0
    assert world.round()["settlement"]["overflow"] == "0.35"
    assert world.books.moved("j1", "pool:reserve", "overflow") == Decimal("0.35")
    assert world.books.moved("j1", "pool:reserve", "refill") == Decimal("-111.50")
    assert Decimal(settlement["meter_after"]) == Decimal("111.50")
    assert Decimal(settlement["reserve_after"]) == 0


def test_an_overflow_of_the_houses_money_stays_the_houses(world: World) -> None:
    world.open(base_amount="999.80", settings={"limit": "1000"})
    world.bet(bet())

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert world.round()["settlement"]["overflow"] == "0.25"
    assert Decimal(settlement["carried"]) == 0
    assert Decimal(settlement["meter_after"]) == Decimal("0.30")
    assert world.books.pools("j1") == Pools(Decimal("0.05"), Decimal("0.25"), Decimal(0), Decimal("0.3184"))


def test_a_partial_award_is_figured_on_the_limit_and_leaves_the_overflow_in_the_meter(world: World) -> None:
    world.open(CYBER, base_amount="10000", settings={"limit": "10000"})
    world.bet(bet())
    world.bet(bet(), round_id="r2")

    settlement = world.settle(hand("1", STRAIGHT_FLUSH))

    assert Decimal(settlement["meter_before"]) == 10_000
    assert [award["amount_minor"] for award in settlement["awards"]] == [100_000]
    assert (Decimal(settlement["house_seed"]), settlement["cycle_after"]) == (Decimal("998.60"), 1)
    assert world.books.pools("j1").meter == 10_000


def test_a_bet_voided_after_the_jackpot_was_won_is_charged_to_adjustments(world: World) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("late"), bet("other"))
    world.bet(bet("winner"), table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    before = world.books.pools("j1")

    voided = world.void("late")

    after = world.books.pools("j1")
    assert voided["voided"] == ["late"]
    assert (after.meter, after.reserve) == (before.meter, before.reserve)
    assert after.prize_fund == before.prize_fund - Decimal("0.3184")
    assert world.books.balance("j1", "house:adjustments") == Decimal("-0.50")
    assert world.books.balance("j1", "house:margin") == Decimal("0.1816") * 2
    assert world.books.moved("j1", "casino:c1", "reversal") == 1


def test_a_round_cancelled_after_the_jackpot_was_won_charges_only_the_bets_of_the_cycle_that_is_over(
    world: World,
) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("before"))
    world.bet(bet("winner"), table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    between = world.books.pools("j1")
    world.bet(bet("after"))

    world.cancel()

    pools = world.books.pools("j1")
    assert (pools.meter, pools.reserve) == (between.meter, between.reserve)
    assert pools.prize_fund == Decimal("0.3184")
    assert world.books.balance("j1", "house:adjustments") == Decimal("-0.50")


def test_a_dead_hand_found_after_the_jackpot_was_won_is_refunded_at_the_houses_cost(world: World) -> None:
    world.open(base_amount="1000", tables=("T1", "T2"))
    world.bet(bet("before"))
    world.bet(bet("winner"), table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    meter = world.books.pools("j1").meter

    settlement = world.settle(dead("1", ("2s", "3s")))

    assert [refund["bet_id"] for refund in settlement["refunds"]] == ["before"]
    assert world.books.pools("j1").meter == meter
    assert world.books.balance("j1", "house:adjustments") == Decimal("-0.50")
