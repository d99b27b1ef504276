"""
What the 5+1 Bonus of 000_6cc300954b9713ce (Live Caribbean Stud) returns, exactly, over every deal of six cards.

Deals that differ by the names of the suits only are judged once, by the real evaluator, and counted as often as they
occur.
"""

from collections import Counter
from fractions import Fraction

import pytest

from jackpot_service.domain.cards import Category, HandValue, category_of
from jackpot_service.domain.games import LIVE_CARIBBEAN_STUD
from tests.support.suit_classes import suit_classes

pytestmark = pytest.mark.long

(BONUS,) = LIVE_CARIBBEAN_STUD.side_bets


@pytest.fixture(scope="module")
def six_card_counts() -> Counter[Category]:
    counts: Counter[Category] = Counter()
    for cards, deals in suit_classes(6):
        counts[category_of(cards)] += deals
    return counts


def test_the_classes_of_six_cards_stand_for_every_deal(six_card_counts: Counter[Category]) -> None:
    assert six_card_counts.total() == 20_358_520


def test_the_bonus_returns_91_43859_percent(six_card_counts: Counter[Category]) -> None:
    assert round(100 * bonus_return(six_card_counts), 5) == Fraction("91.43859")


def test_the_bonus_returns_what_the_rulebook_publishes(six_card_counts: Counter[Category]) -> None:
    assert round(100 * bonus_return(six_card_counts), 2) == Fraction(BONUS.return_percent) == Fraction("91.44")


def bonus_return(counts: Counter[Category]) -> Fraction:
    won = sum(deals * BONUS.paytable.net(HandValue(category)) for category, deals in counts.items())
    return 1 + Fraction(won, counts.total())
