"""
The division of money: stakes among the pools and the house, the meter among its winners.

All divisions are exact until the one rounding at payout, down to a payable minor unit. So no order of bets or hands can
change an amount, and together the winners never get more than the meter.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.money import ZERO, RateSheet, in_atoms
from jackpot_service.domain.outcomes import Win
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple, Tier
from jackpot_service.domain.rules import Policy, Split


class Contribution(NamedTuple):
    """
    The value of some stakes and where it goes; all parts exact, in the base currency.

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
    value = sum(values.values(), ZERO)
    meter = value * split.meter
    reserve = value * split.reserve
    prize_fund = value * split.prize_fund
    house = value - (meter + reserve + prize_fund)
    return Contribution(stakes_minor, values, value, meter, reserve, prize_fund, house)


def stakes_by_currency(bets: Iterable[Bet]) -> dict[str, int]:
    """Sum the stakes of bets per currency, in minor units, the currencies in alphabetical order."""
    sums: defaultdict[str, int] = defaultdict(int)
    for _, _, _, currency, stake_minor, _ in bets:
        sums[currency] += stake_minor
    return dict(sorted(sums.items()))


def sums_by_currency(stakes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum stakes, each a currency and its minor units, the currencies in alphabetical order."""
    sums: defaultdict[str, int] = defaultdict(int)
    for currency, stake_minor in stakes:
        sums[currency] += stake_minor
    return dict(sorted(sums.items()))


def weight(bets: Iterable[Bet], sheet: RateSheet) -> Decimal:
    """Sum the base values of bets: W, if they are the round's bets on dealt hands. Raises: NoRate."""
    sums = stakes_by_currency(bets)
    return sum((sheet.base_value(amount, currency) for currency, amount in sums.items()), ZERO)


Entitlements = tuple[Fraction, ...]
"""The entitlement of each win, in base units, in the order of the wins."""


def shares_minor(bets: Sequence[Bet], *, meter: Decimal, weight: Decimal) -> list[int]:
    """
    Share the meter among bets: each gets stake x meter / weight in its own currency, rounded down.

    `meter` and `weight` are in base units, the result in minor units of each bet's currency. The factor is the same
    for everybody, so a bettor's currency and place in the list do not matter. `weight` must be positive.

    Source: 000_6cc300954b9713ce, "The effect of currency conversions".
    """
    meter_atoms, weight_atoms = in_atoms(meter), in_atoms(weight)
    return [bet.stake_minor * meter_atoms // weight_atoms for bet in bets]


def entitlements(
    wins: Sequence[Win], *, meter: Decimal, prizes: Mapping[Tier, Prize], policy: Policy, sheet: RateSheet
) -> Entitlements:
    """
    Figure what each win is entitled to of the meter, under the policy for several winners.

    The entitlements together never exceed the meter.

    Source: domain decision 7 (docs/decisions/prizes.md).
    """
    whole = Fraction(meter)
    claims = tuple(_claim(win, whole, prizes, sheet) for win in wins)
    return _POLICIES[policy](wins, claims, whole)


def _claim(win: Win, meter: Fraction, prizes: Mapping[Tier, Prize], sheet: RateSheet) -> Fraction:
    match prizes[win.tier]:
        case MeterPart(fraction):
            return meter * Fraction(fraction)
        case StakeMultiple(times):
            return times * Fraction(sheet.base_value(win.bet.stake_minor, win.bet.currency))
        case FixedAmount(amount):
            return Fraction(amount)


def _aggregate_pro_rata(_: Sequence[Win], claims: Entitlements, meter: Fraction) -> Entitlements:
    return _scaled(claims, meter)


def _minor_first(wins: Sequence[Win], claims: Entitlements, meter: Fraction) -> Entitlements:
    is_royal = [win.tier is Tier.ROYAL_FLUSH for win in wins]
    minor = _scaled(
        tuple(Fraction(0) if royal else claim for royal, claim in zip(is_royal, claims, strict=True)), meter
    )
    if not any(is_royal):
        return minor
    royal_share = (meter - sum(minor)) / sum(is_royal)
    return tuple(royal_share if royal else claim for royal, claim in zip(is_royal, minor, strict=True))


def _equal_share(wins: Sequence[Win], claims: Entitlements, meter: Fraction) -> Entitlements:
    winners = Counter(win.tier for win in wins)
    split = tuple(claim / winners[win.tier] for win, claim in zip(wins, claims, strict=True))
    return _scaled(split, meter)


def _scaled(claims: Entitlements, meter: Fraction) -> Entitlements:
    claimed = sum(claims)
    if claimed <= meter:
        return claims
    return tuple(claim * meter / claimed for claim in claims)


_POLICIES: Mapping[Policy, Callable[[Sequence[Win], Entitlements, Fraction], Entitlements]] = {
    Policy.AGGREGATE_PRO_RATA: _aggregate_pro_rata,
    Policy.MINOR_FIRST: _minor_first,
    Policy.EQUAL_SHARE: _equal_share,
}


def payable_minor(entitlement: Fraction, *, currency: str, sheet: RateSheet) -> int:
    """Round an entitlement in base units down to whole minor units of a currency."""
    return int(entitlement // Fraction(sheet.base_value(1, currency)))
