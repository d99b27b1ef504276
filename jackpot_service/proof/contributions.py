"""
The postings and figures that batches of bets should have, made once for all batches whose stakes sum alike.

They depend on nothing but the rules, the sheet and the casino of a round, and on how many bets stake how much in each
currency. Rounds of a jackpot repeat all of that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, repeat
from typing import Final

from jackpot_service.domain import figures, posting_rules
from jackpot_service.domain.allocation import Contribution, contribute
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import JackpotRules

KEPT: Final = 4096
"""So many different sums are kept, those used last."""

Stakes = tuple[tuple[str, int, int], ...]
"""Currency, minor units and number of bets, in alphabetical order of the currencies."""


def stakes_of(bets: Iterable[Bet]) -> Stakes:
    """Sum and count the stakes of bets by currency."""
    sums: dict[str, int] = {}
    counts: dict[str, int] = {}
    for _, _, _, currency, stake_minor, _ in bets:
        sums[currency] = sums.get(currency, 0) + stake_minor
        counts[currency] = counts.get(currency, 0) + 1
    return tuple([(currency, sums[currency], counts[currency]) for currency in sorted(sums)])


@dataclass(frozen=True)
class Contributed:
    """A batch's contribution, and the entry that it makes. Either part of that raises what the domain raises."""

    contribution: Contribution
    stakes: Stakes
    casino_id: str
    sheet: RateSheet

    @cached_property
    def postings(self) -> Postings:
        """The postings of the entry."""
        return posting_rules.for_contribution(self.contribution, casino_id=self.casino_id, sheet=self.sheet)

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The figures of the entry, each as it is written."""
        currencies = list(chain.from_iterable(repeat(currency, count) for currency, _, count in self.stakes))
        return tuple(figure.written() for figure in figures.figures_of_bets(self.contribution, currencies))


class Contributions:
    """The contributions of batches of a jackpot, given its rules and sheets by their numbers."""

    def __init__(self, rules: Mapping[int, JackpotRules], sheet: Callable[[int], RateSheet]) -> None:
        self._rules = rules
        self._sheet = sheet
        self._of_stakes = lru_cache(KEPT)(self._figured)

    def of(self, bets: Iterable[Bet], round_: Round) -> Contributed:
        """Figure the contribution of a round's bets. Raises: KeyError without its rules or its sheet; NoRate."""
        return self._of_stakes(round_.rules_version, round_.rate_sheet, round_.casino_id, stakes_of(bets))

    def _figured(self, version: int, number: int, casino_id: str, stakes: Stakes) -> Contributed:
        rules, sheet = self._rules[version], self._sheet(number)
        stakes_minor = {currency: minor for currency, minor, _ in stakes}
        return Contributed(contribute(stakes_minor, split=rules.split, sheet=sheet), stakes, casino_id, sheet)
