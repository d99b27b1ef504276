"""Hands from one seeded deck, now and then with good cards on top: in ten minutes chance alone would deal no hit."""

import random
from collections.abc import Sequence

from tests.chaos.calls import Hand
from tests.chaos.paytable import DEAD, DEALT, FORFEITED

HANDS = 6
DECK = tuple(rank + suit for suit in "shdc" for rank in "23456789TJQKA")
GOOD = (
    ("9h", "8h", "7h", "6h", "5h"),
    ("2s", "2h", "2d", "2c", "7s"),
    ("4s", "4h", "4d", "5s", "5h"),
    ("Ad", "Kd", "Jd", "Td", "3d"),
    ("6s", "7h", "8s", "9h", "Tc"),
    ("3s", "3h", "3c", "9s", "6h"),
)
ROYAL = ("As", "Ks", "Qs", "Js", "Ts")

_HIT = 0.01
_WIN = 0.1
_ODD_HAND = 0.04


def deal(chance: random.Random) -> tuple[Hand, ...]:
    """Deal the hands of a round: one of a hundred rounds has a royal flush, one of ten a good hand."""
    drawn = chance.random()
    top: Sequence[str] = ROYAL if drawn < _HIT else chance.choice(GOOD) if drawn < _WIN else ()
    rest = [card for card in DECK if card not in top]
    chance.shuffle(rest)
    cards = [*top, *rest]
    return tuple(_hand(chance, str(number + 1), cards[5 * number : 5 * number + 5]) for number in range(HANDS))


def _hand(chance: random.Random, name: str, cards: Sequence[str]) -> Hand:
    drawn = chance.random()
    if drawn < _ODD_HAND:
        return Hand(name, DEAD, tuple(cards[1:]))
    if drawn < 2 * _ODD_HAND:
        return Hand(name, FORFEITED, ())
    return Hand(name, DEALT, tuple(cards))
