"""Whose money the meter is, what a limit keeps off it, and who pays for a late reversal. Decisions 10, 11, 12, 14."""

from decimal import Decimal

from jackpot_service.domain.pools import Pools
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, STRAIGHT_FLUSH, dead, hand
from tests.support.house import CYBER, House


def test_an_award_takes_the_players_money_first(house: House) -> None:
    house.open(CYBER, base_amount="20000")
    house.bet(bet())

    house.settle(hand("1", STRAIGHT_FLUSH))

    assert house.books.moved("j1", "pool:meter:players", "award") == Decimal("-0.70")
    assert house.books.moved("j1", "pool:meter:house", "award") == Decimal("-1999.37")
    assert house.books.pools("j1") == Pools(Decimal(0), Decimal("18000.63"))


def test_a_partial_award_below_the_reset_amount_is_refilled_by_the_house(house: House) -> None:
    house.open(CYBER, base_amount="9999.30")
    house.bet(bet())

    settlement = house.settle(hand("1", FLUSH))

    assert (settlement["cycle_after"], Decimal(settlement["house_seed"])) == (1, Decimal(50))
    assert house.books.pools("j1").meter == 10_000


def test_a_settlement_that_pays_nothing_from_the_meter_refills_nothing(house: House) -> None:
    house.open(base_amount="0", settings={"reset_amount": "1000"})
    house.bet(bet())

    settlement = house.settle(hand("1", FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [2500]
    assert Decimal(settlement["house_seed"]) == 0
    assert house.books.pools("j1").meter == Decimal("0.45")


def test_players_money_below_zero_is_filled_by_the_house_at_the_next_award_from_the_meter(house: House) -> None:
    house.open(CYBER, base_amount="20000")
    house.bet(bet("a", player_id="ann", hand="1"), bet("b", player_id="ann", hand="2"), round_id="early")
    house.bet(bet(), round_id="first")
    first = house.settle(hand("1", STRAIGHT_FLUSH), round_id="first")
    after_first = house.books.pools("j1")

    house.void("a", "b", round_id="early")
    after_void = house.books.pools("j1")
    house.bet(bet(), round_id="second")
    second = house.settle(hand("1", STRAIGHT_FLUSH), round_id="second")

    assert Decimal(first["meter_before"]) == Decimal("20002.10")
    assert after_first == Pools(Decimal(0), Decimal("18001.89"))
    assert after_void == Pools(Decimal("-1.40"), Decimal("18001.89"))
    assert Decimal(second["meter_before"]) == Decimal("18001.19")
    assert [award["amount_minor"] for award in second["awards"]] == [180_011]
    assert house.books.moved("j1", "pool:meter:players", "fill") == Decimal("0.70")
    assert house.books.moved("j1", "pool:meter:house", "fill") == Decimal("-0.70")
    assert house.books.pools("j1") == Pools(Decimal(0), Decimal("16201.08"))


def test_the_base_amount_starts_the_first_cycle_and_the_reset_amount_every_later_one(house: House) -> None:
    house.open(base_amount="123", settings={"reset_amount": "5000"})
    assert house.meter()["amount"] == "123.00"
    house.bet(bet())

    settlement = house.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["meter_after"]) == 5000
    assert house.books.pools("j1") == Pools(Decimal("0.05"), Decimal("4999.95"), Decimal(0), Decimal("0.3184"))
    assert house.books.balance("j1", "house:seed") == Decimal("-5122.95")


def test_at_a_hit_what_a_limit_kept_off_the_offer_goes_to_the_reserve_and_is_not_carried(house: House) -> None:
    house.open(settings={"limit": "1000", "largest_stake": "10000"})
    house.bet(bet(stake_minor=222_300))

    settlement = house.settle(hand("1", ROYAL_FLUSH))

    assert Decimal(settlement["meter_before"]) == 1000
    assert [award["amount_minor"] for award in settlement["awards"]] == [100_000]
    assert Decimal(settlement["carried"]) == 0
    assert house.round()["settlement"]["overflow"] == "0.35"
    assert house.books.moved("j1", "pool:reserve", "overflow") == Decimal("0.35")
    assert house.books.moved("j1", "pool:reserve", "refill") == Decimal("-111.50")
    assert Decimal(settlement["meter_after"]) == Decimal("111.50")
    assert Decimal(settlement["reserve_after"]) == 0


def test_an_overflow_of_the_houses_money_stays_the_houses(house: House) -> None:
    house.open(base_amount="999.80", settings={"limit": "1000"})
    house.bet(bet())

    settlement = house.settle(hand("1", ROYAL_FLUSH))

    assert house.round()["settlement"]["overflow"] == "0.25"
    assert Decimal(settlement["carried"]) == 0
    assert Decimal(settlement["meter_after"]) == Decimal("0.30")
    assert house.books.pools("j1") == Pools(Decimal("0.05"), Decimal("0.25"), Decimal(0), Decimal("0.3184"))


def test_a_partial_award_is_figured_on_the_limit_and_leaves_the_overflow_in_the_meter(house: House) -> None:
    house.open(CYBER, base_amount="10000", settings={"limit": "10000"})
    house.bet(bet())
    house.bet(bet(), round_id="r2")

    settlement = house.settle(hand("1", STRAIGHT_FLUSH))

    assert Decimal(settlement["meter_before"]) == 10_000
    assert [award["amount_minor"] for award in settlement["awards"]] == [100_000]
    assert (Decimal(settlement["house_seed"]), settlement["cycle_after"]) == (Decimal("998.60"), 1)
    assert house.books.pools("j1").meter == 10_000


def test_a_bet_voided_after_the_jackpot_was_won_is_charged_to_adjustments(house: House) -> None:
    house.open(base_amount="1000", tables=("T1", "T2"))
    house.bet(bet("late"), bet("other"))
    house.bet(bet("winner"), table_id="T2")
    house.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    before = house.books.pools("j1")

    voided = house.void("late")

    after = house.books.pools("j1")
    assert voided["voided"] == ["late"]
    assert (after.meter, after.reserve) == (before.meter, before.reserve)
    assert after.prize_fund == before.prize_fund - Decimal("0.3184")
    assert house.books.balance("j1", "house:adjustments") == Decimal("-0.50")
    assert house.books.balance("j1", "house:margin") == Decimal("0.1816") * 2
    assert house.books.moved("j1", "casino:c1", "reversal") == 1


def test_a_round_cancelled_after_the_jackpot_was_won_charges_only_the_bets_of_the_cycle_that_is_over(
    house: House,
) -> None:
    house.open(base_amount="1000", tables=("T1", "T2"))
    house.bet(bet("before"))
    house.bet(bet("winner"), table_id="T2")
    house.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    between = house.books.pools("j1")
    house.bet(bet("after"))

    house.cancel()

    pools = house.books.pools("j1")
    assert (pools.meter, pools.reserve) == (between.meter, between.reserve)
    assert pools.prize_fund == Decimal("0.3184")
    assert house.books.balance("j1", "house:adjustments") == Decimal("-0.50")


def test_a_dead_hand_found_after_the_jackpot_was_won_is_refunded_at_the_houses_cost(house: House) -> None:
    house.open(base_amount="1000", tables=("T1", "T2"))
    house.bet(bet("before"))
    house.bet(bet("winner"), table_id="T2")
    house.settle(hand("1", ROYAL_FLUSH), table_id="T2")
    meter = house.books.pools("j1").meter

    settlement = house.settle(dead("1", ("2s", "3s")))

    assert [refund["bet_id"] for refund in settlement["refunds"]] == ["before"]
    assert house.books.pools("j1").meter == meter
    assert house.books.balance("j1", "house:adjustments") == Decimal("-0.50")
