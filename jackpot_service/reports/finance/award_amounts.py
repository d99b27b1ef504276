"""What awards come to, added up by whatever they are told apart by."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from jackpot_service.domain.money import EXACT, negated

K = TypeVar("K", bound=tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Amounts:
    """How many awards, how much in units of their currency, and what they cost in the base."""

    awards: int
    amount: Decimal
    cost: Decimal

    def plus(self, other: "Amounts") -> "Amounts":
        """Both together."""
        return Amounts(
            self.awards + other.awards, EXACT.add(self.amount, other.amount), EXACT.add(self.cost, other.cost)
        )

    def negated(self) -> "Amounts":
        """As many less."""
        return Amounts(-self.awards, negated(self.amount), negated(self.cost))


def added_up(parts: Iterable[tuple[K, Amounts]]) -> list[tuple[K, Amounts]]:
    """Add up the amounts of each key, in the order of the keys, without those of which no award is left."""
    sums: dict[K, Amounts] = {}
    for key, amounts in parts:
        sums[key] = sums[key].plus(amounts) if key in sums else amounts
    return [(key, sums[key]) for key in sorted(sums) if sums[key].awards]
