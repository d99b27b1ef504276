"""The paytable of a jackpot: what each tier pays in any currency of a rate sheet, from the rules that settle."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.allocation import payable_minor
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.prizes import FixedAmount, MeterPart, StakeMultiple, Tier
from jackpot_service.domain.rules import JackpotRules


@dataclass(frozen=True, slots=True)
class PaytableLine:
    """
    The prize of a tier: a part of the meter, so many times the stake, or an amount in the base currency.

    `amount_minor` is for display, in whole minor units rounded down. It is the part of the meter now, the prize of a
    stake of one unit (of the token, where there is one), or the amount.
    """

    tier: Tier
    meter_part: Decimal | None
    stake_multiple: int | None
    fixed_amount: Decimal | None
    amount_minor: int

    def amount_for(self, stake_minor: int) -> int:
        """Figure the prize of a stake, in whole minor units of the currency that the line is printed in."""
        return self.amount_minor if self.stake_multiple is None else self.stake_multiple * stake_minor


def paytable(rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> tuple[PaytableLine, ...]:
    """Print the paytable in a currency, best tier first. Raises: NoRate."""
    return tuple(
        _line(tier, rules, meter=meter, sheet=sheet, currency=currency) for tier in Tier if tier in rules.prizes
    )


def _line(tier: Tier, rules: JackpotRules, *, meter: Meter, sheet: RateSheet, currency: str) -> PaytableLine:
    match rules.prizes[tier]:
        case MeterPart(fraction):
            amount = Fraction(meter.exact) * Fraction(fraction)
            return PaytableLine(tier, fraction, None, None, payable_minor(amount, currency=currency, sheet=sheet))
        case StakeMultiple(times):
            return PaytableLine(tier, None, times, None, times * unit_minor(rules, currency=currency, sheet=sheet))
        case FixedAmount(amount):
            minor = payable_minor(Fraction(amount), currency=currency, sheet=sheet)
            return PaytableLine(tier, None, None, amount, minor)


def unit_minor(rules: JackpotRules, *, currency: str, sheet: RateSheet) -> int:
    """The stake that a printed prize is for, in minor units: the token, or one unit of the currency."""
    rate = sheet.rate(currency)
    return 10**rate.exponent if rules.token is None else rate.most_minor_within(rules.token)
