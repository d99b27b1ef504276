"""Cards that are alike but for the names of the suits: one is judged for all of them, and counted as often."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, groupby, product
from math import factorial, prod

from jackpot_service.domain.cards import RANKS, SUITS, Card


def suit_classes(size: int) -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield so many cards of every class of deals that are alike but for the suits' names, and how many it has."""
    for lengths in combinations_with_replacement(range(size, -1, -1), len(SUITS)):
        if sum(lengths) == size:
            yield from _classes_of_shape(lengths)


def _classes_of_shape(lengths: Sequence[int]) -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield the classes that have so many cards in each suit; suits of one length may trade names."""
    suits = iter(SUITS)
    parts = [_held_in(length, [next(suits) for _ in group]) for length, group in groupby(lengths)]
    for chosen in product(*parts):
        cards = tuple(card for part, _ in chosen for card in part)
        yield cards, factorial(len(SUITS)) // prod(trades for _, trades in chosen)


def _held_in(length: int, suits: Sequence[str]) -> list[tuple[tuple[Card, ...], int]]:
    """List what some suits of one length may hold, and how many trades of their names change nothing."""
    return [
        (
            tuple(Card(rank + suit) for suit, ranks in zip(suits, held, strict=True) for rank in ranks),
            prod(factorial(count) for count in Counter(held).values()),
        )
        for held in combinations_with_replacement(list(combinations(RANKS, length)), len(suits))
    ]
