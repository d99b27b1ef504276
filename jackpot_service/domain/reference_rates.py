"""Reference rates as central banks quote them, turned into rates of any base currency by one cross computation."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import EXACT, ONE

CROSS_DECIMALS = 10
"""As many as a rate may have."""


class NotQuoted(Refused):
    """The document quotes no such currency."""

    code = "not-quoted"
    title = "The document quotes no such currency"


@dataclass(frozen=True, slots=True)
class ReferenceRates:
    """
    A day's quotes: how many units of each currency one unit of the pivot is worth.

    All are positive; the pivot itself is not among them.
    """

    pivot: str
    day: date
    quotes: Mapping[str, Decimal]

    @property
    def currencies(self) -> frozenset[str]:
        """Every currency that they know, the pivot among them."""
        return frozenset(self.quotes) | {self.pivot}

    def base_per_unit(self, currency: str, *, base: str) -> Decimal:
        """
        Figure what one unit of a currency is worth in a base currency.

        The quotient of the two quotes is exact until it is rounded, once, to 10 decimals, half to even: a rate of EUR
        (1 / quote) and one of any other base are figured alike.

        Raises: NotQuoted.
        """
        quotient = Fraction(self._quote(base)) / Fraction(self._quote(currency))
        return Decimal(round(quotient * 10**CROSS_DECIMALS)).scaleb(-CROSS_DECIMALS, EXACT)

    def _quote(self, currency: str) -> Decimal:
        if currency == self.pivot:
            return ONE
        if currency not in self.quotes:
            message = f"The rates of {self.day} quote no {currency}."
            raise NotQuoted(message, currency=currency)
        return self.quotes[currency]
