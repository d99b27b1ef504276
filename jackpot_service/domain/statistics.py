"""
Figures that compare: how often a deal wins a tier, what that costs, parts in per cent. Never money to be paid.

They are divisions and roots, so most of them are not finite; each is rounded once, from exact figures.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import Final

from jackpot_service.domain.prizes import FixedAmount, StakeMultiple, Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules

DECIMALS = 10
"""Of a ratio, and of an amount that is only expected."""

ROOT_DECIMALS = 2


def rounded(number: Fraction) -> Decimal:
    """Write a number with ten decimals, rounded half to even."""
    return _scaled(round(number * 10**DECIMALS), DECIMALS)


def rounded_down(number: Fraction, decimals: int) -> Decimal:
    """Write a number that is not negative with so many decimals, rounded down."""
    return _scaled(int(number * 10**decimals), decimals)


def percent(part: Decimal | Fraction, whole: Decimal | Fraction) -> Decimal | None:
    """How many per cent of a whole a part is; None where there is no whole."""
    return rounded(100 * Fraction(part) / Fraction(whole)) if whole else None


def root(variance: Fraction) -> Decimal:
    """The standard deviation that belongs to a variance, rounded to two decimals, half up."""
    doubled = isqrt(int(4 * variance * 100**ROOT_DECIMALS))
    return _scaled((doubled + 1) // 2, ROOT_DECIMALS)


def deviations(difference: Decimal, variance: Fraction) -> Decimal | None:
    """How many standard deviations a difference is, rounded to two decimals; None without a variance."""
    if not variance:
        return None
    return root(Fraction(difference) ** 2 / variance).copy_sign(difference)


DEVIATIONS: Final = Decimal("1.96")
"""How many standard deviations the band of chance reaches to either side: 19 of 20 periods end within it."""


def band_of_chance(expected: Decimal, deviation: Decimal, whole: Decimal) -> tuple[Decimal, Decimal] | None:
    """
    Return between which parts of a whole, in per cent, a figure ends by chance alone, 19 of 20 times.

    The lower edge is not below 0. There is no band where there is no whole, or nothing that strays.
    """
    if not deviation or whole <= 0:
        return None
    spread = DEVIATIONS * deviation
    low, high = percent(max(expected - spread, Decimal(0)), whole), percent(expected + spread, whole)
    return None if low is None or high is None else (low, high)


def _scaled(digits: int, decimals: int) -> Decimal:
    return Decimal(digits).scaleb(-decimals)


ALL_HANDS = 2_598_960

HANDS: Mapping[Tier, int] = {
    Tier.ROYAL_FLUSH: 4,
    Tier.STRAIGHT_FLUSH: 36,
    Tier.FOUR_OF_A_KIND: 624,
    Tier.FULL_HOUSE: 3_744,
    Tier.FLUSH: 5_108,
    Tier.STRAIGHT: 10_200,
    Tier.THREE_OF_A_KIND: 54_912,
}
"""How many of all hands of five cards win each tier."""


def fixed_prize_cost(rules: JackpotRules) -> Fraction:
    """
    Figure what the fixed prizes cost of a unit staked, on average and exactly.

    Of the Live rulebook it is 827,636 / 2,598,960; its split gives them 0.3184.
    """
    return sum((tier_cost(rules, tier) for tier in fixed_prizes(rules)), Fraction(0))


def tier_cost(rules: JackpotRules, tier: Tier) -> Fraction:
    """Figure what a fixed prize costs of a unit staked, on average and exactly; 0 for a tier that has none."""
    return HANDS[tier] * fixed_prizes(rules).get(tier, Fraction(0)) / ALL_HANDS


def fixed_prize_variance(rules: JackpotRules) -> Fraction:
    """
    Figure the variance, exactly, of what the fixed prizes pay to one hand that a unit is staked on.

    Bettors of one hand win together, so of a hand it counts with the square of all that is staked on it. Of the Live
    rulebook its root is 10.34.

    Source: domain decision 2.
    """
    squares = sum((HANDS[tier] * times**2 for tier, times in fixed_prizes(rules).items()), Fraction(0))
    return squares / ALL_HANDS - fixed_prize_cost(rules) ** 2


def meter_return(rules: JackpotRules) -> Fraction:
    """
    Figure the part of a unit staked that the meter returns in time: all that is put into it and into the reserve.

    The house's seeds come on top. Where the meter pays the fixed prizes, they are in it.
    """
    return Fraction(rules.split.meter + rules.split.reserve)


def prize_fund_return(rules: JackpotRules) -> Fraction:
    """Figure the part of a unit staked that the prize fund returns on average; 0 where there is none."""
    return fixed_prize_cost(rules) if rules.fixed_prizes_from is FundedBy.PRIZE_FUND else Fraction(0)


def hands_per_win(tier: Tier) -> Fraction:
    """How many hands are dealt for one that wins a tier, on average: 649,740 for a royal flush."""
    return Fraction(ALL_HANDS, HANDS[tier])


def fixed_prizes(rules: JackpotRules) -> dict[Tier, Fraction]:
    """By how much each fixed prize multiplies a stake, best tier first; a fixed amount multiplies the token."""
    multiples = {}
    for tier, prize in rules.prizes.items():
        match prize:
            case StakeMultiple(times):
                multiples[tier] = Fraction(times)
            case FixedAmount(amount) if rules.token is not None:
                multiples[tier] = Fraction(amount) / Fraction(rules.token)
    return multiples
