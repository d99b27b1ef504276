"""How often a deal of five cards wins a tier, and what fixed prizes therefore cost of every unit that is staked."""

from collections.abc import Mapping
from fractions import Fraction

from jackpot_service.domain.rules import JackpotRules, StakeMultiple, Tier

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
    prizes = {tier: prize.times for tier, prize in rules.prizes.items() if isinstance(prize, StakeMultiple)}
    return Fraction(sum(HANDS[tier] * times for tier, times in prizes.items()), ALL_HANDS)
