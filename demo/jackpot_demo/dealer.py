"""Deals a round of Caribbean Stud from one real, shuffled deck."""

import random
from dataclasses import dataclass
from typing import Final

DECK: Final = tuple(rank + suit for rank in "23456789TJQKA" for suit in "shdc")
HAND_CARDS: Final = 5
MOST_HANDS: Final = len(DECK) // HAND_CARDS - 1
"""Nine hands and the dealer's: more do not come out of one deck."""


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of one round; the first hand is the round's hand `1`."""

    hands: tuple[tuple[str, ...], ...]
    dealer: tuple[str, ...]


def deal(rng: random.Random, *, hands: int) -> Deal:
    """Shuffle a deck and deal five cards to each hand and to the dealer. Raises: ValueError for too many hands."""
    return _hand_out(_shuffled(rng), hands)


def deal_royal_flush(rng: random.Random, *, hands: int) -> Deal:
    """Deal as always, but with the ten to the ace of one suit brought to the top first: scripted, not chance."""
    deck = _shuffled(rng)
    suit = deck[0][1]
    royal = [card for card in deck if card[1] == suit and card[0] in "TJQKA"]
    return _hand_out(royal + [card for card in deck if card not in royal], hands)


def _shuffled(rng: random.Random) -> list[str]:
    deck = list(DECK)
    rng.shuffle(deck)
    return deck


def _hand_out(deck: list[str], hands: int) -> Deal:
    if not 1 <= hands <= MOST_HANDS:
        raise ValueError(f"one deck deals 1 to {MOST_HANDS} hands besides the dealer's, not {hands}")
    piles = [tuple(deck[at : at + HAND_CARDS]) for at in range(0, (hands + 1) * HAND_CARDS, HAND_CARDS)]
    return Deal(hands=tuple(piles[:-1]), dealer=piles[-1])
