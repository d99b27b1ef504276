"""What a casino is owed, by what its table servers were told: for whoever holds that against the books."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Bet = TypeVar("Bet", bound=Hashable)

Money = tuple[str, int]
"""A currency and its minor units."""


def owed_minor(
    stakes: Mapping[Bet, Money], refunded: Iterable[Bet], awards: Mapping[tuple[Bet, str], Money]
) -> dict[str, int]:
    """Sum it in each currency, in minor units; negative, the casino owes."""
    owed: Counter[str] = Counter()
    for currency, amount_minor in stakes.values():
        owed[currency] -= amount_minor
    for bet in refunded:
        currency, amount_minor = stakes[bet]
        owed[currency] += amount_minor
    for currency, amount_minor in awards.values():
        owed[currency] += amount_minor
    return dict(owed)
