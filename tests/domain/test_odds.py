"""
The odds of five cards, counted over all 2,598,960 hands by the real evaluator, and what the rulebooks derive of them.

Hands that differ by the names of the suits only are judged once, and counted as often as they occur.
"""

from collections import Counter
from fractions import Fraction
from math import floor

import pytest

from jackpot_service.domain import statistics
from jackpot_service.domain.cards import Category, HandValue, category_of, evaluate
from jackpot_service.domain.games import CASINO_HOLDEM_2_HAND, PAIR_OF_ACES
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rulebooks import published_rules
from tests.support.suit_classes import suit_classes

# What the jackpot of Live Caribbean Stud pays below a royal flush, in stakes: 000_6cc300954b9713ce, "JACKPOT".
FIXED_PRIZES = {
    Category.STRAIGHT_FLUSH: 2500,
    Category.FOUR_OF_A_KIND: 250,
    Category.FULL_HOUSE: 50,
    Category.FLUSH: 25,
    Category.STRAIGHT: 10,
    Category.THREE_OF_A_KIND: 3,
}
ALL_HANDS = 2_598_960

HandCounts = Counter[HandValue]


@pytest.fixture(scope="module")
def counts() -> HandCounts:
    """How many hands have each category, as its weakest value; pairs of aces apart from lesser pairs."""
    by_value: HandCounts = Counter()
    for five, hands in suit_classes(5):
        category = category_of(five)
        is_of_aces = category is Category.PAIR and evaluate(five) >= PAIR_OF_ACES
        by_value[PAIR_OF_ACES if is_of_aces else HandValue(category)] += hands
    return by_value


@pytest.mark.parametrize(
    ("category", "count"),
    [
        (Category.ROYAL_FLUSH, 4),
        (Category.STRAIGHT_FLUSH, 36),
        (Category.FOUR_OF_A_KIND, 624),
        (Category.FULL_HOUSE, 3_744),
        (Category.FLUSH, 5_108),
        (Category.STRAIGHT, 10_200),
        (Category.THREE_OF_A_KIND, 54_912),
        (Category.TWO_PAIRS, 123_552),
        (Category.PAIR, 1_098_240),
        (Category.HIGH_CARD, 1_302_540),
    ],
)
def test_each_category_has_its_known_number_of_hands(counts: HandCounts, category: Category, count: int) -> None:
    assert number_of(counts, category) == count


def test_the_categories_are_all_hands(counts: HandCounts) -> None:
    assert counts.total() == ALL_HANDS


def test_84_480_pairs_are_of_aces(counts: HandCounts) -> None:
    assert counts[PAIR_OF_ACES] == 84_480


def test_the_fixed_prizes_cost_827_636_stakes_over_all_hands(counts: HandCounts) -> None:
    assert fixed_prize_cost(counts) == Fraction(827_636, ALL_HANDS)


def test_31_84_percent_is_what_the_fixed_prizes_cost_rounded_down(counts: HandCounts) -> None:
    assert round_down_percent(fixed_prize_cost(counts)) == Fraction("31.84")


def test_the_prize_fund_drifts_by_0_0049_percent_of_turnover(counts: HandCounts) -> None:
    drift = Fraction(3184, 10_000) - fixed_prize_cost(counts)
    assert round(100 * drift, 4) == Fraction("-0.0049")


def test_the_meter_the_reserve_and_the_fixed_prizes_return_the_published_81_84_percent(counts: HandCounts) -> None:
    assert 45 + 5 + round_down_percent(fixed_prize_cost(counts)) == Fraction("81.84")


def test_the_fixed_prizes_of_a_bet_deviate_by_10_34_stakes(counts: HandCounts) -> None:
    mean_square = Fraction(sum(prize**2 * number_of(counts, won) for won, prize in FIXED_PRIZES.items()), ALL_HANDS)
    variance = mean_square - fixed_prize_cost(counts) ** 2
    assert Fraction("10.335") ** 2 <= variance < Fraction("10.345") ** 2
    assert str(statistics.root(variance)) == "10.34"


def test_the_holdem_bonus_returns_93_74165_percent(counts: HandCounts) -> None:
    assert round(100 * holdem_bonus_return(counts), 5) == Fraction("93.74165")


def test_the_holdem_bonus_returns_what_its_rulebook_publishes(counts: HandCounts) -> None:
    published = CASINO_HOLDEM_2_HAND.side_bets[0].return_percent
    assert round(100 * holdem_bonus_return(counts), 2) == Fraction(published) == Fraction("93.74")


def test_the_odds_that_the_service_figures_with_are_those_counted(counts: HandCounts) -> None:
    assert counts.total() == statistics.ALL_HANDS
    assert {tier: number_of(counts, Category(tier.value)) for tier in Tier} == statistics.HANDS


def test_what_the_service_says_the_live_prizes_cost_is_what_they_cost(counts: HandCounts) -> None:
    rules = published_rules("live-caribbean-stud", base="EUR", settings={})
    assert statistics.fixed_prize_cost(rules) == fixed_prize_cost(counts)


def test_what_the_service_says_of_their_variance_is_what_was_counted(counts: HandCounts) -> None:
    rules = published_rules("live-caribbean-stud", base="EUR", settings={})
    squares = Fraction(sum(prize**2 * number_of(counts, won) for won, prize in FIXED_PRIZES.items()), ALL_HANDS)
    assert statistics.fixed_prize_variance(rules) == squares - fixed_prize_cost(counts) ** 2


def number_of(counts: HandCounts, category: Category) -> int:
    return sum(count for hand, count in counts.items() if hand.category is category)


def fixed_prize_cost(counts: HandCounts) -> Fraction:
    return Fraction(sum(prize * number_of(counts, won) for won, prize in FIXED_PRIZES.items()), counts.total())


def round_down_percent(share: Fraction) -> Fraction:
    return Fraction(floor(10_000 * share), 100)


def holdem_bonus_return(counts: HandCounts) -> Fraction:
    (bonus,) = CASINO_HOLDEM_2_HAND.side_bets
    return 1 + Fraction(sum(count * bonus.paytable.net(hand) for hand, count in counts.items()), counts.total())
