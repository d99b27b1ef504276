"""
What the 5+1 Bonus of 000_6cc300954b9713ce (Live Caribbean Stud) returns, exactly, over every deal of six cards.

Deals that differ by the names of the suits only are judged once, by the real evaluator, and counted as often as they
occur.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, groupby, product
from math import factorial, prod

import pytest

from jackpot_service.domain.cards import RANKS, SUITS, Card
from jackpot_service.domain.catalog.games import LIVE_CARIBBEAN_STUD
from jackpot_service.domain.poker import Category, HandValue, category_of

(BONUS,) = LIVE_CARIBBEAN_STUD.side_bets


@pytest.fixture(scope="module")
def six_card_counts() -> Counter[Category]:
    counts: Counter[Category] = Counter()
    for cards, deals in classes_of_six():
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


def classes_of_six() -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield six cards of every class of deals that are alike but for the names of the suits, and the class's size."""
    for lengths in combinations_with_replacement(range(6, -1, -1), len(SUITS)):
        if sum(lengths) == 6:
            yield from classes_of_shape(lengths)


def classes_of_shape(lengths: Sequence[int]) -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield the classes that have so many cards in each suit; suits of one length may trade names."""
    suits = iter(SUITS)
    parts = [held_in(length, [next(suits) for _ in group]) for length, group in groupby(lengths)]
    for chosen in product(*parts):
        cards = tuple(card for part, _ in chosen for card in part)
        yield cards, factorial(len(SUITS)) // prod(trades for _, trades in chosen)


def held_in(length: int, suits: Sequence[str]) -> list[tuple[tuple[Card, ...], int]]:
    """List what some suits of one length may hold, and how many trades of their names change nothing."""
    return [
        (
            tuple(Card(rank + suit) for suit, ranks in zip(suits, held, strict=True) for rank in ranks),
            prod(factorial(count) for count in Counter(held).values()),
        )
        for held in combinations_with_replacement(list(combinations(RANKS, length)), len(suits))
    ]
