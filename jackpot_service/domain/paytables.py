"""The paytable of a jackpot, from the same rules that settle: what each tier pays, in any currency of the sheet."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.allocation import payable_minor
from jackpot_service.domain.meters import Meter
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rules import JackpotRules, MeterPart, StakeMultiple, Tier


@dataclass(frozen=True, slots=True)
class PaytableLine:
    """
    What a tier pays: a part of the meter, or so many times the stake.

    `amount_minor` is for display, in whole minor units rounded down: the part of the meter now, or the prize of a
    stake of one unit (of the token, where there is one).
    """

    tier: Tier
    meter_part: Decimal | None
    stake_multiple: int | None
    amount_minor: int


def paytable(rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> tuple[PaytableLine, ...]:
    """Print the paytable in a currency, best tier first. Raises: NoRate."""
    return tuple(
        _line(tier, rules, meter=meter, sheet=sheet, currency=currency) for tier in Tier if tier in rules.prizes
    )


def _line(tier: Tier, rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> PaytableLine:
    match rules.prizes[tier]:
        case MeterPart(fraction):
            amount = Fraction(meter.exact) * Fraction(fraction)
            return PaytableLine(tier, fraction, None, payable_minor(amount, currency=currency, sheet=sheet))
        case StakeMultiple(times):
            return PaytableLine(tier, None, times, times * _stake_minor(rules, currency=currency, sheet=sheet))


def _stake_minor(rules: JackpotRules, *, currency: str, sheet: RateSheet) -> int:
    """The stake that a printed prize is for: the token, or one unit of the currency."""
    rate = sheet.rate(currency)
    return 10**rate.exponent if rules.token is None else rate.most_minor_within(rules.token)
