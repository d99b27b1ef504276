"""Which stakes a table takes, currency by currency: those that the jackpot's rules and the table's limits both take."""

from collections.abc import Iterator
from dataclasses import dataclass

from jackpot_service.domain.acceptance import largest_minor_of
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.domain.table_limits import TableLimits


@dataclass(frozen=True, slots=True)
class AcceptedStakes:
    """The stakes that are taken in a currency, in whole minor units; both bounds are taken. They may be equal."""

    rate: Rate
    least_minor: int
    largest_minor: int


def accepted_stakes(rules: JackpotRules, limits: TableLimits, *, sheet: RateSheet) -> tuple[AcceptedStakes, ...]:
    """List the currencies of a sheet in which some stake is taken, by code, each with its least and largest stake."""
    return tuple(_accepted(rules, limits, sheet))


def _accepted(rules: JackpotRules, limits: TableLimits, sheet: RateSheet) -> Iterator[AcceptedStakes]:
    tokens = [token for token in (rules.token, limits.token) if token is not None]
    least = [*tokens, *(stake for stake in (rules.least_stake, limits.least_stake) if stake is not None)]
    largest = [*tokens, *([] if limits.largest_stake is None else [limits.largest_stake])]
    for currency, rate in sorted(sheet.rates.items()):
        if tokens and currency != sheet.base:
            continue
        least_minor = max([1, *map(rate.least_minor_within, least)])
        largest_minor = min([LARGEST_MINOR, _largest_of(rules, rate), *map(rate.most_minor_within, largest)])
        if least_minor <= largest_minor:
            yield AcceptedStakes(rate, least_minor, largest_minor)


def _largest_of(rules: JackpotRules, rate: Rate) -> int:
    if rules.largest_stake is None:
        return LARGEST_MINOR
    return largest_minor_of(rate, rules.largest_stake, rules.largest_stakes.get(rate.currency))
