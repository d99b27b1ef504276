"""
Exact money: the arithmetic of decimals, amounts in minor units, and the rate sheet that gives them a base value.

Importing this module makes the arithmetic of decimals exact in the whole process: `meter = players + house` is exact,
or raises `decimal.Inexact`. Python's own default would round at 28 digits and say nothing.
"""

import decimal
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from jackpot_service.domain.errors import Refused

PRECISION = 100
"""Digits of a result: more than any sum or product of amounts has."""

_NEVER = (
    decimal.Inexact,
    decimal.FloatOperation,
    decimal.InvalidOperation,
    decimal.Overflow,
    decimal.DivisionByZero,
)

# Every thread begins with a copy of the default context; the thread that imports this has begun already.
for _context in (decimal.DefaultContext, decimal.getcontext()):
    _context.prec = PRECISION
    for _signal in _context.traps:
        _context.traps[_signal] = _signal in _NEVER

ZERO = Decimal(0)
ONE = Decimal(1)

POOL_DECIMALS = 18
"""Decimals of a pool amount: at most 4 of a stake, 10 of a rate and 4 of a split."""


def in_atoms(amount: Decimal) -> int:
    """
    Count an amount in units of 10**-18, the smallest a pool can hold, for exact integer division.

    Raises: decimal.Inexact if the amount has more than 18 decimals.
    """
    return int(amount.scaleb(POOL_DECIMALS).to_integral_exact())


def from_minor(amount_minor: int, exponent: int) -> Decimal:
    """Write a whole number of minor units as units of the currency: 100 with exponent 2 is 1.00."""
    return Decimal(amount_minor).scaleb(-exponent)


def has_decimals(amount: Decimal, at_most: int) -> bool:
    """Return whether an amount is finite and written with at most so many decimals."""
    # A zero of as many decimals shows how many there are; `as_tuple` would list all digits for it.
    return amount.is_finite() and -(amount - amount).adjusted() <= at_most


# Amounts repeat, and equal ones are written alike.
@lru_cache(maxsize=1024)
def plain(amount: Decimal) -> str:
    """Write an exact amount without exponent and without trailing zeros: what the API and the digests show."""
    text = format(amount, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class NoRate(Refused, code="no-rate", title="The rate sheet has no such currency"):
    """The round's rate sheet has no rate for the currency."""


@dataclass(frozen=True)
class Rate:
    """
    The worth of one unit of a currency in the base currency, and how the currency is divided.

    The exponent is fixed with the rate, so that a later change of the currency table leaves old rounds as they were.
    """

    currency: str
    base_per_unit: Decimal
    exponent: int

    @cached_property
    def base_per_minor(self) -> Decimal:
        """The worth of one minor unit in the base currency."""
        return from_minor(1, self.exponent) * self.base_per_unit

    def base_value(self, amount_minor: int) -> Decimal:
        """Convert minor units of this currency to base units, exactly."""
        return amount_minor * self.base_per_minor

    def most_minor_within(self, base_value: Decimal) -> int:
        """Count the whole minor units whose base value does not exceed a base value (rounded down)."""
        return in_atoms(base_value) // in_atoms(self.base_value(1))

    def least_minor_within(self, base_value: Decimal) -> int:
        """Count the whole minor units whose base value is at least a base value (rounded up)."""
        return -(-in_atoms(base_value) // in_atoms(self.base_value(1)))

    def most_minor_of(self, amount: Decimal) -> int:
        """Count the whole minor units of an amount in units of this currency (rounded down)."""
        return int(amount.scaleb(self.exponent))


@dataclass(frozen=True, slots=True)
class RateSheet:
    """All rates in force for a base currency, under one number. The base currency itself stands in it at 1."""

    base: str
    number: int
    rates: Mapping[str, Rate]

    def rate(self, currency: str) -> Rate:
        """Raises: NoRate."""
        try:
            return self.rates[currency]
        except KeyError:
            message = f"Rate sheet {self.number} of {self.base} has no rate for {currency}."
            raise NoRate(message, currency=currency, rate_sheet=self.number) from None

    def base_value(self, amount_minor: int, currency: str) -> Decimal:
        """Convert minor units of a currency to base units, exactly. Raises: NoRate."""
        return self.rate(currency).base_value(amount_minor)
