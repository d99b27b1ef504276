"""Counts what was played."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from jackpot_client import Award, Bet, Refund
from jackpot_demo.scene import MONEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """
    Counts of what the tables did and the service answered; they add up. Totals are minor units by currency.

    `bets` are those that counted when their round ended, voided ones apart; `retries` requests sent again, on
    purpose or for want of an answer; `refusals` the provoked ones.
    """

    rounds: int = 0
    bets: int = 0
    voids: int = 0
    cancellations: int = 0
    refunds: int = 0
    awards: int = 0
    retries: int = 0
    refusals: int = 0
    staked_minor: Mapping[str, int] = field(default_factory=dict)
    refunded_minor: Mapping[str, int] = field(default_factory=dict)
    awarded_minor: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Self) -> "Figures":
        """Return both together."""
        return Figures(
            rounds=self.rounds + other.rounds,
            bets=self.bets + other.bets,
            voids=self.voids + other.voids,
            cancellations=self.cancellations + other.cancellations,
            refunds=self.refunds + other.refunds,
            awards=self.awards + other.awards,
            retries=self.retries + other.retries,
            refusals=self.refusals + other.refusals,
            staked_minor=_sum(self.staked_minor, other.staked_minor),
            refunded_minor=_sum(self.refunded_minor, other.refunded_minor),
            awarded_minor=_sum(self.awarded_minor, other.awarded_minor),
        )


def stakes_by_currency(bets: Iterable[Bet]) -> dict[str, int]:
    """Add stakes up, each currency for itself."""
    return _sum(*({bet.currency: bet.stake_minor} for bet in bets))


def amounts_by_currency(items: Iterable[Award | Refund]) -> dict[str, int]:
    """Add awards or refunds up, each currency for itself."""
    return _sum(*({item.currency: item.amount_minor} for item in items))


def in_words(minor: Mapping[str, int]) -> str:
    """Print totals for people: `EUR 1,785.75 + JPY 500`."""
    return " + ".join(f"{currency} {_plain(currency, amount)}" for currency, amount in sorted(minor.items())) or "0"


def _plain(currency: str, minor: int) -> str:
    exponent = MONEY[currency].exponent
    whole, rest = divmod(minor, 10**exponent)
    return f"{whole:,}.{rest:0{exponent}}" if exponent else f"{whole:,}"


def _sum(*totals: Mapping[str, int]) -> dict[str, int]:
    result: Counter[str] = Counter()
    for total in totals:
        result.update(total)
    return dict(sorted(result.items()))
