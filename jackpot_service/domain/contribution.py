"""How a batch of stakes is split among the pools and the house."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.money import EXACT, RateSheet, product, total
from jackpot_service.domain.rules import Split


@dataclass(frozen=True, slots=True)
class Contribution:
    """
    What some stakes are worth and where their value goes; all parts exact, in the base currency.

    `stakes_minor` is the batch's stakes per currency in minor units, `values` the same in base units. The parts always
    sum to `value`.
    """

    stakes_minor: Mapping[str, int]
    values: Mapping[str, Decimal]
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal


def contribute(stakes_minor: Mapping[str, int], *, split: Split, sheet: RateSheet) -> Contribution:
    """
    Split stakes, summed per currency, among the pools and the house.

    Exact: stakes have at most 4 decimals, rates 10, splits 4, and nothing is rounded. The split is linear, so a batch
    contributes the sum of what its bets contribute. The house takes what the pools do not.

    Raises: NoRate if the sheet lacks one of the currencies.
    Source: 000_6cc300954b9713ce, "How the Jackpot bet is used to fund the jackpot prizes".
    """
    values = {currency: sheet.base_value(amount, currency) for currency, amount in stakes_minor.items()}
    value = total(values.values())
    meter = product(value, split.meter)
    reserve = product(value, split.reserve)
    prize_fund = product(value, split.prize_fund)
    house = EXACT.subtract(value, total((meter, reserve, prize_fund)))
    return Contribution(stakes_minor, values, value, meter, reserve, prize_fund, house)


def stakes_by_currency(bets: Iterable[Bet]) -> dict[str, int]:
    """Sum the stakes of bets per currency, in minor units, the currencies in alphabetical order."""
    return sums_by_currency((bet.currency, bet.stake_minor) for bet in bets)


def sums_by_currency(stakes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum stakes, each a currency and its minor units, the currencies in alphabetical order."""
    sums: defaultdict[str, int] = defaultdict(int)
    for currency, stake_minor in stakes:
        sums[currency] += stake_minor
    return dict(sorted(sums.items()))


def weight(bets: Iterable[Bet], sheet: RateSheet) -> Decimal:
    """Sum the base values of bets: W, if they are the round's bets on dealt hands. Raises: NoRate."""
    sums = stakes_by_currency(bets)
    return total(sheet.base_value(amount, currency) for currency, amount in sums.items())
