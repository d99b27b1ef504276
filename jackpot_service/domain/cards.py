"""
Cards of one standard deck: 52, no jokers.

A card is two characters, rank and suit: "As" is the ace of spades, "Td" the ten of diamonds.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NewType

from jackpot_service.domain.errors import Refused

Card = NewType("Card", str)

RANKS = "23456789TJQKA"
SUITS = "shdc"
DECK: tuple[Card, ...] = tuple(Card(rank + suit) for rank in RANKS for suit in SUITS)

_DECK_SET = frozenset(DECK)


class BadCard(Refused):
    """A text names no card of the deck. Fact: `card`, the text."""

    code = "card-unknown"
    title = "Unknown card"


class CardRepeated(Refused):
    """A card was named more than once where one deck is dealt. Fact: `cards`, each repeated card once."""

    code = "card-repeated"
    title = "A card was dealt twice"


def parse_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    """Read cards in the order given. Raises: BadCard at the first text that names none."""
    return tuple(parse_card(text) for text in texts)


def parse_card(text: str) -> Card:
    """Read one card; case matters, and a ten is "T". Raises: BadCard if the text names none."""
    if text not in _DECK_SET:
        raise BadCard(f'{text!r} is no card: a rank of {RANKS}, then a suit of {SUITS}, such as "As".', card=text)
    return Card(text)


def require_one_deck(cards: Iterable[Card]) -> None:
    """
    Refuse cards that cannot all come from one deck.

    A round is dealt from one deck, so this is asked of all hands of the round together.

    Raises: CardRepeated, naming every repeated card in the order of first mention.
    Source: 000_6cc300954b9713ce (Live Caribbean Stud), "Game Rules": one deck, one game, then a shuffle.
    """
    repeated: list[str] = [card for card, count in Counter(cards).items() if count > 1]
    if repeated:
        raise CardRepeated(f"Dealt more than once: {', '.join(repeated)}.", cards=repeated)
