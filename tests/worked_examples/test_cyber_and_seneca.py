"""Scenarios 29 to 37: the hand owns its prize. Rulebooks: Cyber Caribbean Stud and Seneca Caribbean Stud."""

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    NOTHING,
    ROYAL_FLUSH,
    ROYAL_FLUSH_TOO,
    STRAIGHT_FLUSH,
    STRAIGHT_FLUSH_TOO,
    Cards,
    hand,
)
from tests.support.world import CYBER, SENECA, World

CONTRIBUTED = Decimal("0.70")
"""By each unit of a token."""


def play(
    world: World,
    *cards: Cards,
    meter: str,
    policy: str = "aggregate_pro_rata",
    rulebook: str = CYBER,
    name: str = "1",
    token: int = 1,
) -> Body:
    """Open a jackpot whose meter is exactly this when the round is settled, and settle it with these hands."""
    base_amount = Decimal(meter) - CONTRIBUTED * token * len(cards)
    world.open(
        rulebook,
        jackpot_id=f"j{name}",
        base_amount=str(base_amount),
        settings={"policy": policy, "token": str(token)},
        tables=(f"T{name}",),
    )
    names = [str(number) for number in range(1, len(cards) + 1)]
    staked = (bet(f"b{number}", hand=number, stake_minor=100 * token) for number in names)
    world.bet(*staked, table_id=f"T{name}")
    settlement = world.settle(
        *(hand(number, dealt) for number, dealt in zip(names, cards, strict=True)), table_id=f"T{name}"
    )
    assert Decimal(settlement["meter_before"]) == Decimal(meter)
    assert settlement["policy"] == policy
    return settlement


def paid(settlement: Body) -> list[tuple[str, str]]:
    """Each award's tier and its amount in euros."""
    return [(award["tier"], str(Decimal(award["amount_minor"]).scaleb(-2))) for award in settlement["awards"]]


@pytest.mark.parametrize("rulebook", [CYBER, SENECA])
def test_scenario_29_a_straight_flush_takes_a_tenth_and_starts_no_cycle(world: World, rulebook: str) -> None:
    settlement = play(world, STRAIGHT_FLUSH, meter="100000", rulebook=rulebook)

    assert paid(settlement) == [("straight_flush", "10000.00")]
    assert Decimal(settlement["meter_after"]) == 90_000
    assert (settlement["cycle_after"], settlement["carried"], settlement["house_seed"]) == (1, None, "0")
    assert world.books.pools("j1").meter == 90_000


def test_scenario_30_what_is_no_payable_cent_stays_in_the_meter(world: World) -> None:
    settlement = play(world, STRAIGHT_FLUSH, meter="12345.67")

    assert paid(settlement) == [("straight_flush", "1234.56")]
    assert Decimal(settlement["meter_after"]) == Decimal("11111.11")


def test_scenario_31_two_straight_flushes_get_a_tenth_each(world: World) -> None:
    settlement = play(world, STRAIGHT_FLUSH, STRAIGHT_FLUSH_TOO, meter="100000")

    assert paid(settlement) == [("straight_flush", "10000.00")] * 2
    assert Decimal(settlement["meter_after"]) == 80_000


def test_scenario_31_under_equal_share_they_split_one_tenth(world: World) -> None:
    settlement = play(world, STRAIGHT_FLUSH, STRAIGHT_FLUSH_TOO, meter="100000", policy="equal_share")

    assert paid(settlement) == [("straight_flush", "5000.00")] * 2
    assert Decimal(settlement["meter_after"]) == 90_000


def test_scenario_32_a_royal_and_a_straight_flush_are_scaled_alike_in_any_order(world: World) -> None:
    for number, cards in enumerate(permutations((ROYAL_FLUSH, STRAIGHT_FLUSH))):
        settlement = play(world, *cards, meter="100000", name=str(number))

        assert sorted(paid(settlement)) == [("royal_flush", "90909.09"), ("straight_flush", "9090.90")]
        assert Decimal(settlement["carried"]) == Decimal("0.01")
        assert settlement["cycle_after"] == 2
        assert Decimal(settlement["house_seed"]) == Decimal("9999.99")
        assert Decimal(settlement["meter_after"]) == 10_000


def test_scenario_33_two_royals_and_a_straight_flush(world: World) -> None:
    settlement = play(world, ROYAL_FLUSH, ROYAL_FLUSH_TOO, STRAIGHT_FLUSH, meter="100000")

    assert paid(settlement) == [
        ("royal_flush", "47619.04"),
        ("royal_flush", "47619.04"),
        ("straight_flush", "4761.90"),
    ]
    assert Decimal(settlement["carried"]) == Decimal("0.02")


def test_scenario_34_minor_first_pays_the_straight_flush_and_halves_the_rest(world: World) -> None:
    settlement = play(world, ROYAL_FLUSH, STRAIGHT_FLUSH, ROYAL_FLUSH_TOO, meter="100000", policy="minor_first")

    assert sorted(paid(settlement)) == [
        ("royal_flush", "45000.00"),
        ("royal_flush", "45000.00"),
        ("straight_flush", "10000.00"),
    ]
    assert Decimal(settlement["carried"]) == 0


def test_scenario_34_minor_first_may_leave_the_royal_nothing_and_still_starts_a_new_cycle(world: World) -> None:
    settlement = play(world, FOUR_OF_A_KIND, ROYAL_FLUSH, meter="400", policy="minor_first")

    assert paid(settlement) == [("four_of_a_kind", "400.00")]
    assert settlement["cycle_after"] == 2
    assert Decimal(settlement["meter_after"]) == 10_000
    entitled = world.round(table_id="T1")["settlement"]["entitlements"]
    assert {(claim["bet_id"], claim["amount"]) for claim in entitled} == {("b1", "400"), ("b2", "0")}


def test_scenario_35_fixed_prizes_come_out_of_the_meter(world: World) -> None:
    settlement = play(world, ROYAL_FLUSH, FOUR_OF_A_KIND, meter="100000")

    assert paid(settlement) == [("royal_flush", "99502.48"), ("four_of_a_kind", "497.51")]
    assert world.books.moved("j1", "pool:prize_fund", "award") == 0


@pytest.mark.parametrize(
    ("cards", "prize"),
    [(FOUR_OF_A_KIND, "500.00"), (FULL_HOUSE, "100.00"), (FLUSH, "50.00")],
)
def test_scenario_35_a_fixed_prize_alone_is_paid_whole(world: World, cards: Cards, prize: str) -> None:
    settlement = play(world, cards, meter="100000")

    assert [amount for _, amount in paid(settlement)] == [prize]
    assert Decimal(settlement["meter_after"]) == 100_000 - Decimal(prize)


@pytest.mark.parametrize("rulebook", [CYBER, SENECA])
@pytest.mark.parametrize("token", ["0.50", "3.00"])
@pytest.mark.parametrize(
    ("cards", "prize"),
    [(FOUR_OF_A_KIND, "500.00"), (FULL_HOUSE, "100.00"), (FLUSH, "50.00"), (STRAIGHT_FLUSH, "1000.00")],
)
def test_scenario_46_fixed_prizes_are_the_guides_amounts_whatever_the_token_is_worth(
    world: World, rulebook: str, token: str, cards: Cards, prize: str
) -> None:
    """Source: 001 and 004, "$500, $100, $50". The straight flush takes a tenth of the meter of 10,000."""
    stake_minor = int(Decimal(token) * 100)
    world.open(rulebook, base_amount=str(10_000 - Decimal(token) * Decimal("0.7")), settings={"token": token})
    world.bet(bet(stake_minor=stake_minor))

    settlement = world.settle(hand("1", cards))

    assert [amount for _, amount in paid(settlement)] == [prize]
    assert world.books.mismatches() == ()


@pytest.mark.parametrize("policy", ["aggregate_pro_rata", "minor_first", "equal_share"])
@pytest.mark.parametrize(("meter", "four", "full_house"), [("600", "500.00", "100.00"), ("300", "250.00", "50.00")])
def test_scenario_46_amounts_together_above_the_meter_are_scaled_as_before(
    world: World, policy: str, meter: str, four: str, full_house: str
) -> None:
    """600.00 is claimed: all that a meter of 600 has, and twice what one of 300 has."""
    settlement = play(world, FOUR_OF_A_KIND, FULL_HOUSE, meter=meter, policy=policy, token=3)

    assert paid(settlement) == [("four_of_a_kind", four), ("full_house", full_house)]
    assert (settlement["cycle_after"], settlement["house_seed"]) == (1, "10000")  # The meter was emptied.


@pytest.mark.parametrize(
    ("policy", "royal", "four", "full_house"),
    [
        # Claims of 1000, 500 and 100 on a meter of 1000.
        ("aggregate_pro_rata", "625.00", "312.50", "62.50"),
        # The amounts are paid whole, and the royal flush gets what is left.
        ("minor_first", "400.00", "500.00", "100.00"),
        # One winner of each tier: nothing is split, and all are scaled.
        ("equal_share", "625.00", "312.50", "62.50"),
    ],
)
def test_scenario_46_amounts_next_to_a_royal_flush_by_each_policy(
    world: World, policy: str, royal: str, four: str, full_house: str
) -> None:
    settlement = play(world, ROYAL_FLUSH, FOUR_OF_A_KIND, FULL_HOUSE, meter="1000", policy=policy, token=3)

    assert paid(settlement) == [("royal_flush", royal), ("four_of_a_kind", four), ("full_house", full_house)]
    assert Decimal(settlement["carried"]) == 0


def test_scenario_46_minor_first_scales_the_amounts_and_leaves_the_royal_flush_nothing(world: World) -> None:
    settlement = play(world, FOUR_OF_A_KIND, FULL_HOUSE, ROYAL_FLUSH, meter="300", policy="minor_first", token=3)

    assert paid(settlement) == [("four_of_a_kind", "250.00"), ("full_house", "50.00")]
    assert settlement["cycle_after"] == 2


@pytest.mark.parametrize(
    ("meter", "four", "flush"),
    [
        ("10000", "250.00", "50.00"),  # The pair splits 500, and a flush alone gets 50.
        ("275", "125.00", "25.00"),  # Together they claim 550: all are halved.
    ],
)
def test_scenario_46_under_equal_share_two_fours_of_a_kind_split_one_amount(
    world: World, meter: str, four: str, flush: str
) -> None:
    base_amount = str(Decimal(meter) - CONTRIBUTED * 3 * 3)
    world.open(CYBER, base_amount=base_amount, settings={"token": "3", "policy": "equal_share"})
    pair = (bet(f"b{number}", player_id=f"p{number}", stake_minor=300) for number in (1, 2))
    world.bet(*pair, bet("b3", hand="2", stake_minor=300))

    settlement = world.settle(hand("1", FOUR_OF_A_KIND), hand("2", FLUSH))

    assert Decimal(settlement["meter_before"]) == Decimal(meter)
    assert paid(settlement) == [("four_of_a_kind", four), ("four_of_a_kind", four), ("flush", flush)]


def test_scenario_46_two_fours_of_a_kind_share_a_meter_of_600(world: World) -> None:
    world.open(CYBER, base_amount="595.80", settings={"token": "3", "reset_amount": "0"})
    world.bet(*(bet(f"b{number}", player_id=f"p{number}", stake_minor=300) for number in (1, 2)))

    settlement = world.settle(hand("1", FOUR_OF_A_KIND))

    assert paid(settlement) == [("four_of_a_kind", "300.00"), ("four_of_a_kind", "300.00")]


@pytest.mark.parametrize(
    "settings",
    [
        {"prizes.flush": "0"},
        {"prizes.flush": "50.001"},
        {"prizes.flush": "-1"},
        {"prizes.flush": "many"},
        {"prizes.flush": "1000000000000000"},
        {"token": None, "largest_stake": "100"},
    ],
)
def test_a_fixed_amount_that_could_not_be_paid_is_refused(world: World, settings: dict[str, str | None]) -> None:
    world.open(CYBER)

    world.ask("rules", {"jackpot_id": "j1", "settings": settings}).problem(422, "rules-invalid")


def test_the_paytable_shows_the_amount_in_both_currencies(world: World) -> None:
    world.open(CYBER, settings={"token": "3"})

    for currency, shown in (("EUR", 50_000), ("GBP", 42_735)):
        lines = world.get(f"/v1/jackpots/j1/paytable?currency={currency}").ok()["lines"]
        (four,) = (line for line in lines if line["tier"] == "four_of_a_kind")
        assert four == {
            "tier": "four_of_a_kind",
            "meter_part": None,
            "stake_multiple": None,
            "fixed_amount": "500",
            "amount_minor": shown,
        }
    text = world.get("/v1/jackpots/j1/rules").ok()["text"]
    assert "Four of a kind: 500 EUR, from the jackpot." in text


def test_scenario_36_a_player_with_three_hands_gets_an_award_for_each_that_wins(world: World) -> None:
    world.open(CYBER, base_amount="99997.90")
    world.bet(*(bet(f"b{number}", player_id="ann", hand=str(number)) for number in (1, 2, 3)))

    settlement = world.settle(hand("1", STRAIGHT_FLUSH), hand("2", NOTHING), hand("3", FULL_HOUSE))

    assert paid(settlement) == [("straight_flush", "10000.00"), ("full_house", "100.00")]
    assert {award["player_id"] for award in settlement["awards"]} == {"ann"}


@pytest.mark.parametrize("rulebook", [CYBER, SENECA])
def test_a_token_is_taken_only_whole_and_in_the_jackpots_own_currency(world: World, rulebook: str) -> None:
    world.open(rulebook, settings={"token": "2.50"})
    before = world.books.counts_but_exceptions()

    world.post_bets(bet(currency="GBP", stake_minor=250)).problem(422, "currency-not-accepted", "/bets/0/currency")
    for stake_minor in (1, 249, 251, 500):
        world.post_bets(bet(stake_minor=stake_minor)).problem(422, "stake-out-of-range", "/bets/0/stake_minor")

    assert world.books.counts_but_exceptions() == before
    world.bet(bet(stake_minor=250))


@pytest.mark.parametrize(("rulebook", "hands"), [(CYBER, 3), (SENECA, 1)])
def test_scenario_36_a_hand_more_than_the_rules_allow_is_refused(world: World, rulebook: str, hands: int) -> None:
    world.open(rulebook)
    world.bet(*(bet(f"b{number}", player_id="ann", hand=str(number)) for number in range(hands)))
    one_more: dict[str, Any] = bet("more", player_id="ann", hand="more")
    before = world.books.counts_but_exceptions()

    world.post_bets(one_more).problem(422, "hand-limit", "/bets/0/hand")

    assert world.books.counts_but_exceptions() == before
    assert [exception["kind"] for exception in world.books.exceptions()] == ["hand-limit"]
    world.void("b0")
    world.bet(one_more)


def test_scenario_37_a_bet_at_a_table_without_a_jackpot_is_refused(world: World) -> None:
    world.add_table("H1", game="casino-holdem-2-hand")
    world.add_table("S1", game="caribbean-stud")
    before = world.books.counts()

    world.post_bets(bet(), table_id="H1").problem(422, "no-jackpot")
    world.post_bets(bet(), table_id="S1").problem(422, "no-jackpot")

    assert world.books.counts() == before
