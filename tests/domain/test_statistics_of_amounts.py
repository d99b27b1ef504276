"""What prizes of fixed amounts cost of a unit staked, and how they vary: from the numbers of hands, and the token."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import comb
from typing import Final

import pytest

from jackpot_service.domain import statistics
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.rules import JackpotRules

ALL_HANDS: Final = comb(52, 5)

PAID: Final[Mapping[Tier, tuple[int, int]]] = {
    Tier.FOUR_OF_A_KIND: (13 * 48, 500),
    Tier.FULL_HOUSE: (13 * comb(4, 3) * 12 * comb(4, 2), 100),
    Tier.FLUSH: (4 * (comb(13, 5) - 10), 50),
}
"""How many of all hands win each tier, and the amount that Cyber's guide prints: "$500, $100, $50"."""

TOKENS: Final = ("1", "3", "0.50")


def cyber(token: str) -> JackpotRules:
    return published_rules("cyber-caribbean-stud", base="EUR", settings={"token": token})


@pytest.mark.parametrize("tier", PAID)
@pytest.mark.parametrize("token", TOKENS)
def test_a_tier_costs_its_amount_in_tokens_as_often_as_it_is_dealt(token: str, tier: Tier) -> None:
    hands, amount = PAID[tier]

    cost = statistics.tier_cost(cyber(token), tier)

    assert cost == Fraction(hands, ALL_HANDS) * amount / Fraction(token)


def test_a_token_of_3_pays_for_a_third_of_what_a_token_of_1_pays_for() -> None:
    """941,800 euros over all hands: 624 x 500, 3,744 x 100 and 5,108 x 50."""
    assert statistics.fixed_prize_cost(cyber("1")) == Fraction(941_800, 2_598_960)
    assert statistics.fixed_prize_cost(cyber("3")) == Fraction(941_800, 3 * 2_598_960)
    assert round(100 * float(statistics.fixed_prize_cost(cyber("3"))), 4) == 12.0792


@pytest.mark.parametrize("tier", [Tier.ROYAL_FLUSH, Tier.STRAIGHT_FLUSH, Tier.STRAIGHT, Tier.THREE_OF_A_KIND])
def test_what_a_part_of_the_meter_or_nothing_is_paid_for_costs_no_amount(tier: Tier) -> None:
    assert statistics.tier_cost(cyber("3"), tier) == 0


def test_the_variance_is_that_of_the_amounts_in_tokens_of_3() -> None:
    """Over all hands the squares are 206,210,000 square euros, of which a token of 3 is a ninth."""
    mean = Fraction(941_800, 3 * 2_598_960)

    assert statistics.fixed_prize_variance(cyber("3")) == Fraction(206_210_000, 9 * 2_598_960) - mean**2


@pytest.mark.parametrize("token", TOKENS)
def test_the_variance_is_the_mean_of_what_each_hand_deviates(token: str) -> None:
    """Summed hand by hand: those that win an amount, and those that win none."""
    units = {amount / Fraction(token): hands for hands, amount in PAID.values()}
    units[Fraction(0)] = ALL_HANDS - sum(units.values())
    mean = sum(paid * hands for paid, hands in units.items()) / ALL_HANDS

    variance = sum(hands * (paid - mean) ** 2 for paid, hands in units.items()) / ALL_HANDS

    assert statistics.fixed_prize_variance(cyber(token)) == variance


@pytest.mark.parametrize("token", TOKENS)
def test_in_money_a_bet_costs_and_deviates_the_same_whatever_its_token_is_worth(token: str) -> None:
    rules, worth = cyber(token), Fraction(token)

    assert statistics.fixed_prize_cost(rules) * worth == Fraction(941_800, ALL_HANDS)
    assert str(statistics.root(statistics.fixed_prize_variance(rules) * worth**2)) == "8.90"


@pytest.mark.parametrize(
    ("expected", "deviation", "whole", "band"),
    [
        ("63.69", "146.23", "200", ("0", "175.1504")),
        ("3184.5", "1034", "10000", ("11.5786", "52.1114")),
        ("1", "1", "100", ("0", "2.96")),
    ],
)
def test_the_band_of_chance_reaches_nearly_two_deviations_to_either_side_and_not_below_nothing(
    expected: str, deviation: str, whole: str, band: tuple[str, str]
) -> None:
    assert statistics.band_of_chance(Decimal(expected), Decimal(deviation), Decimal(whole)) == tuple(map(Decimal, band))


@pytest.mark.parametrize(("deviation", "whole"), [("0", "100"), ("1", "0"), ("1", "-5")])
def test_there_is_no_band_where_nothing_was_played_or_nothing_strays(deviation: str, whole: str) -> None:
    assert statistics.band_of_chance(Decimal(1), Decimal(deviation), Decimal(whole)) is None
