"""Playing cards as pages show them: by rank, each with its name for those who hear it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from jackpot_service.domain.cards import RANKS, SUITS, Card

_PIPS: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
_SUIT_NAMES: Final = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
_RANK_NAMES: Final = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "10"}


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card as it is drawn; `name` says it in words."""

    rank: str
    pip: str
    suit: str
    name: str


def shown_cards(cards: Iterable[Card]) -> tuple[ShownCard, ...]:
    """Show cards, the highest first: the ledger keeps them by letter."""
    by_rank = sorted(cards, key=lambda card: (-RANKS.index(card[0]), SUITS.index(card[1])))
    return tuple(shown_card(card) for card in by_rank)


def shown_card(card: Card) -> ShownCard:
    """Show a card."""
    rank, suit = card[0], card[1]
    name = f"{_RANK_NAMES.get(rank, rank)} of {_SUIT_NAMES[suit]}"
    return ShownCard("10" if rank == "T" else rank, _PIPS[suit], _SUIT_NAMES[suit], name)
