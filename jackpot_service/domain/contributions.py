"""
The postings and figures of batches of bets, made once for all batches whose stakes sum alike.

They depend on nothing but the rules, the sheet and the casino of a round, and on how many bets stake how much in each
currency. Where a jackpot bet is a chip of one value, batches repeat all of that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from jackpot_service.domain import figures, posting_rules
from jackpot_service.domain.allocation import Contribution, contribute
from jackpot_service.domain.figures import Figure
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import JackpotRules

KEPT: Final = 512
"""So many are kept, in at most two megabytes or so; the oldest leaves first."""

Stakes = tuple[tuple[str, int, int], ...]
"""Currency, minor units and number of bets, in alphabetical order of the currencies."""


def sum_stakes(stakes: Iterable[tuple[str, int]]) -> Stakes:
    """Sum and count stakes, each a currency and its minor units, by currency."""
    sums: dict[str, int] = {}
    counts: dict[str, int] = {}
    for currency, stake_minor in stakes:
        sums[currency] = sums.get(currency, 0) + stake_minor
        counts[currency] = counts.get(currency, 0) + 1
    return tuple([(currency, sums[currency], counts[currency]) for currency in sorted(sums)])


@dataclass(frozen=True)
class Contributed:
    """A batch's contribution, and what the entry of it holds."""

    contribution: Contribution
    stakes: Stakes
    casino_id: str
    sheet: RateSheet

    @cached_property
    def postings(self) -> Postings:
        """The postings of the entry."""
        return posting_rules.for_contribution(self.contribution, casino_id=self.casino_id, sheet=self.sheet)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the entry."""
        return figures.figures_of_bets(self.contribution, {currency: count for currency, _, count in self.stakes})


class Contributions:
    """The contributions of batches of one database, in which jackpots, versions and sheets are known by their ids."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int, int, str, Stakes], Contributed] = {}

    def of(self, stakes: Stakes, round_: Round, *, rules: JackpotRules, sheet: RateSheet) -> Contributed:
        """Figure what a round's bets contribute, by the round's own rules and sheet. Raises: NoRate."""
        key = (round_.jackpot_id, round_.rules_version, round_.rate_sheet, round_.casino_id, stakes)
        contributed = self._made.get(key)
        if contributed is None:
            stakes_minor = {currency: minor for currency, minor, _ in stakes}
            contribution = contribute(stakes_minor, split=rules.split, sheet=sheet)
            contributed = Contributed(contribution, stakes, round_.casino_id, sheet)
            if len(self._made) >= KEPT:
                del self._made[next(iter(self._made))]
            self._made[key] = contributed
        return contributed
