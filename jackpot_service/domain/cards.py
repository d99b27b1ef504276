"""
Cards of one standard deck, 52 without jokers, and what a hand of them is worth.

A card is two characters, rank and suit: "As" is the ace of spades, "Td" the ten of diamonds. Suits never break a tie,
and an ace stands high or low in a straight.
Source: 000_6cc300954b9713ce (Live Caribbean Stud), "Winning Hands"; the other rulebooks rank alike.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NewType

from jackpot_service.domain.errors import Refused

Card = NewType("Card", str)

RANKS = "23456789TJQKA"
SUITS = "shdc"
DECK: tuple[Card, ...] = tuple(Card(rank + suit) for rank in RANKS for suit in SUITS)

_DECK_SET = frozenset(DECK)


class BadCard(Refused, code="card-unknown", title="Unknown card"):
    """A text names no card of the deck. Fact: `card`, the text."""


class CardRepeated(Refused, code="card-repeated", title="A card was dealt twice"):
    """A card was named more than once where one deck is dealt."""


def parse_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    """Read cards in the order given. Raises: BadCard at the first text that names none."""
    return tuple(parse_card(text) for text in texts)


def parse_card(text: str) -> Card:
    """Read one card; case matters, and a ten is "T". Raises: BadCard if the text names none."""
    if text not in _DECK_SET:
        raise BadCard(f'{text!r} is no card: a rank of {RANKS}, then a suit of {SUITS}, such as "As".', card=text)
    return Card(text)


def require_one_deck(cards: Sequence[Card]) -> None:
    """
    Refuse cards that cannot all come from one deck.

    A round is dealt from one deck, so this is asked of all hands of the round together.

    Raises: CardRepeated, naming every repeated card in the order of first mention.
    Source: 000_6cc300954b9713ce (Live Caribbean Stud), "Game Rules": one deck, one game, then a shuffle.
    """
    if len(set(cards)) < len(cards):
        repeated: list[str] = [card for card, count in Counter(cards).items() if count > 1]
        raise CardRepeated(f"Dealt more than once: {', '.join(repeated)}.", cards=repeated)


class Category(StrEnum):
    """The name of a five-card hand; declared and ordered weakest first, not by the alphabet as other words are."""

    HIGH_CARD = "high_card"
    PAIR = "pair"
    TWO_PAIRS = "two_pairs"
    THREE_OF_A_KIND = "three_of_a_kind"
    STRAIGHT = "straight"
    FLUSH = "flush"
    FULL_HOUSE = "full_house"
    FOUR_OF_A_KIND = "four_of_a_kind"
    STRAIGHT_FLUSH = "straight_flush"
    ROYAL_FLUSH = "royal_flush"

    @property
    def strength(self) -> int:
        """The place among the ten categories: 0 for a high card, 9 for a royal flush."""
        return _STRENGTHS[self]

    def __lt__(self, other: str) -> bool:
        return self.strength < other.strength if isinstance(other, Category) else NotImplemented

    def __le__(self, other: str) -> bool:
        return self.strength <= other.strength if isinstance(other, Category) else NotImplemented

    def __gt__(self, other: str) -> bool:
        return self.strength > other.strength if isinstance(other, Category) else NotImplemented

    def __ge__(self, other: str) -> bool:
        return self.strength >= other.strength if isinstance(other, Category) else NotImplemented


@dataclass(frozen=True, slots=True, order=True)
class HandValue:
    """
    A hand's place among all hands: a hand beats another if its value is greater, and ties if it is equal.

    `ranks` break ties inside a category: 2 to 14 (the ace), what is held most often first, then the higher. Of a
    straight they are only its highest card, 5 under a low ace. Fewer ranks than a dealt hand has make a bound: `(14,)`
    of a pair is "a pair of aces", and no pair of aces is below it.
    """

    category: Category
    ranks: tuple[int, ...] = ()


def category_of(cards: Sequence[Card]) -> Category:
    """
    Name the best five of 5 to 7 cards, without ranking them further; far cheaper than `best_of`.

    Raises: ValueError if the number of cards is wrong or a card is repeated, which callers have checked.
    """
    _require_cards(cards, most=7)
    if len(cards) == 5:
        return _category_of_five(cards)
    return max(map(_category_of_five, combinations(cards, 5)), key=_STRENGTHS.__getitem__)


def best_of(cards: Sequence[Card]) -> HandValue:
    """Value the best five of 5 to 7 cards. Raises: ValueError as `category_of` does."""
    _require_cards(cards, most=7)
    return max(map(_evaluate, combinations(cards, 5)))


def evaluate(five: Sequence[Card]) -> HandValue:
    """Value a hand of five cards. Raises: ValueError if they are not five different cards."""
    _require_cards(five, most=5)
    return _evaluate(five)


def _require_cards(cards: Sequence[Card], *, most: int) -> None:
    count = len(cards)
    if not 5 <= count <= most:
        raise ValueError(f"{count} cards make no hand here: at least 5 are needed, at most {most} allowed")
    if len(set(cards)) != count:
        raise ValueError(f"a card is repeated: {' '.join(cards)}")


def _category_of_five(five: Sequence[Card]) -> Category:
    a, b, c, d, e = five
    held = _RANK_BIT[a] | _RANK_BIT[b] | _RANK_BIT[c] | _RANK_BIT[d] | _RANK_BIT[e]
    distinct = held.bit_count()
    if distinct == 4:
        return _PAIR
    if distinct < 4:
        return _CATEGORY_BY_COUNTS[tuple(sorted(Counter(card[0] for card in five).values()))]
    if a[1] == b[1] == c[1] == d[1] == e[1]:
        return _SUITED_STRAIGHTS.get(held, _FLUSH)
    return _STRAIGHT if held in _STRAIGHT_HIGH_RANK else _HIGH_CARD


def _evaluate(five: Sequence[Card]) -> HandValue:
    category = _category_of_five(five)
    counts = Counter(_RANK_VALUE[card[0]] for card in five)
    if category in _STRAIGHT_CATEGORIES:
        return HandValue(category, (_STRAIGHT_HIGH_RANK[sum(1 << rank for rank in counts)],))
    return HandValue(category, tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)))


_STRENGTHS = {category: strength for strength, category in enumerate(Category)}

_RANK_VALUE = {rank: value for value, rank in enumerate(RANKS, start=2)}
# A set of ranks is the sum of one bit for each, so that five cards are compared with a straight in one look-up.
_RANK_BIT = {card: 1 << _RANK_VALUE[card[0]] for card in DECK}

_LOW_ACE = sum(1 << rank for rank in (14, 2, 3, 4, 5))
_STRAIGHT_HIGH_RANK = {0b11111 << (high - 4): high for high in range(6, 15)} | {_LOW_ACE: 5}

# Enum members are slow to reach through their class, and these are asked for millions of times.
_HIGH_CARD = Category.HIGH_CARD
_PAIR = Category.PAIR
_STRAIGHT = Category.STRAIGHT
_FLUSH = Category.FLUSH

_SUITED_STRAIGHTS = {
    held: Category.ROYAL_FLUSH if high == 14 else Category.STRAIGHT_FLUSH for held, high in _STRAIGHT_HIGH_RANK.items()
}
_STRAIGHT_CATEGORIES = frozenset({Category.STRAIGHT, Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH})
_CATEGORY_BY_COUNTS = {
    (1, 2, 2): Category.TWO_PAIRS,
    (1, 1, 3): Category.THREE_OF_A_KIND,
    (2, 3): Category.FULL_HOUSE,
    (1, 4): Category.FOUR_OF_A_KIND,
}
