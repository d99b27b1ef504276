"""
Exact money: the arithmetic context, amounts in minor units, and the rate sheet that gives them a base value.

Every sum and product of pool amounts goes through this module. The decimal module's own default context rounds at 28
digits and is one per thread; ours raises instead of rounding, and is named wherever it is used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import (
    Context,
    Decimal,
    DivisionByZero,
    FloatOperation,
    Inexact,
    InvalidOperation,
    Overflow,
)

from jackpot_service.domain.errors import Refused

EXACT = Context(prec=100, traps=[Inexact, FloatOperation, InvalidOperation, Overflow, DivisionByZero])

ZERO = Decimal(0)
ONE = Decimal(1)

POOL_DECIMALS = 18
"""Decimals of a pool amount: at most 4 of a stake, 10 of a rate and 4 of a split."""


def total(amounts: Iterable[Decimal]) -> Decimal:
    """Add amounts exactly. The sum of nothing is 0."""
    result = ZERO
    for amount in amounts:
        result = EXACT.add(result, amount)
    return result


def product(amount: Decimal, factor: Decimal) -> Decimal:
    """Multiply two exact amounts; raises decimal.Inexact rather than rounding."""
    return EXACT.multiply(amount, factor)


def negated(amount: Decimal) -> Decimal:
    """Turn the sign of an amount, exactly; the unary minus of a Decimal would round to the thread's context."""
    return amount.copy_negate()


def in_atoms(amount: Decimal) -> int:
    """
    Count an amount in units of 10**-18, the smallest a pool can hold, for exact integer division.

    Raises: decimal.Inexact if the amount has more than 18 decimals.
    """
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, POOL_DECIMALS)))


def from_minor(amount_minor: int, exponent: int) -> Decimal:
    """Write a whole number of minor units as units of the currency: 100 with exponent 2 is 1.00."""
    return Decimal(amount_minor).scaleb(-exponent, EXACT)


def has_decimals(amount: Decimal, at_most: int) -> bool:
    """Tell whether an amount is finite and written with at most so many decimals."""
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and -exponent <= at_most


def plain(amount: Decimal) -> str:
    """Write an exact amount without exponent and without trailing zeros: what the API and the digests show."""
    text = format(amount, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class NoRate(Refused, code="no-rate", title="The rate sheet has no such currency"):
    """The round's rate sheet has no rate for the currency."""


@dataclass(frozen=True, slots=True)
class Rate:
    """
    What one unit of a currency is worth in the base currency, and how the currency is divided.

    The exponent is pinned with the rate, so that a later change of the currency table leaves old rounds as they were.
    """

    currency: str
    base_per_unit: Decimal
    exponent: int

    def base_value(self, amount_minor: int) -> Decimal:
        """Convert minor units of this currency to base units, exactly."""
        return product(from_minor(amount_minor, self.exponent), self.base_per_unit)

    def most_minor_within(self, base_value: Decimal) -> int:
        """Count the whole minor units whose base value does not exceed a base value (rounded down)."""
        return in_atoms(base_value) // in_atoms(self.base_value(1))

    def most_minor_of(self, amount: Decimal) -> int:
        """Count the whole minor units of an amount in units of this currency (rounded down)."""
        return int(amount.scaleb(self.exponent, EXACT))


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
