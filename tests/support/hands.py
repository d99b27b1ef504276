"""Hands of one deck by what they are: no two of these share a card, so any of them may meet in one round."""

from collections.abc import Sequence
from typing import Any

Cards = tuple[str, ...]


def _cards(text: str) -> Cards:
    return tuple(text.split())


ROYAL_FLUSH = _cards("As Ks Qs Js Ts")
ROYAL_FLUSH_TOO = _cards("Ah Kh Qh Jh Th")
STRAIGHT_FLUSH = _cards("9d 8d 7d 6d 5d")
STRAIGHT_FLUSH_TOO = _cards("9c 8c 7c 6c 5c")
FOUR_OF_A_KIND = _cards("2s 2h 2d 2c 7s")
FULL_HOUSE = _cards("4s 4h 4d 5s 5h")
FLUSH = _cards("Ad Kd Jd Td 3d")
STRAIGHT = _cards("6s 7h 8s 9h Tc")
THREE_OF_A_KIND = _cards("3s 3h 3c 9s 6h")
NOTHING = _cards("8h Qd 4c Jc Kc")

NO_COLLISIONS = (
    ROYAL_FLUSH,
    ROYAL_FLUSH_TOO,
    STRAIGHT_FLUSH,
    STRAIGHT_FLUSH_TOO,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    FLUSH,
    STRAIGHT,
    THREE_OF_A_KIND,
    NOTHING,
)

NOTHING_TOO = _cards("Ac Qc 9c 7c 6d")
"""It shares cards with both straight flushes, and with nothing else."""


def hand(name: str, cards: Sequence[str] = NOTHING) -> dict[str, Any]:
    """A dealt hand of a result."""
    return {"hand": name, "cards": list(cards)}


def dead(name: str, cards: Sequence[str] = ()) -> dict[str, Any]:
    """A hand that was dealt with a wrong number of cards."""
    return {"hand": name, "status": "dead", "cards": list(cards)}


def forfeited(name: str, cards: Sequence[str] = ()) -> dict[str, Any]:
    """A hand that its player forfeited."""
    return {"hand": name, "status": "forfeited", "cards": list(cards)}
