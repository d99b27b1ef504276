"""Rates: what a change makes of the sheet before it, which of them are hard to believe, and central banks' quotes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import ONE, RateSheet, plain

DEFAULT_BAND = Decimal("0.10")
"""How far a rate may lie from the one before it, as a part of that one, and be believed at once."""

INVERTED = "inverted"
"""The mark, behind its currency, of a rate that would be believed the other way round."""

Rates = Mapping[str, Decimal]
"""Base units per one unit of each currency, the base itself not among them."""


@dataclass(frozen=True, slots=True)
class RateSource:
    """The document that rates were taken from: whose it is, of which day, and the SHA-256 of its bytes."""

    name: str
    day: date
    sha256: str


def stated_rates(sheet: RateSheet) -> dict[str, Decimal]:
    """The rates of a sheet as they were stated: all but that of the base itself."""
    return {code: rate.base_per_unit for code, rate in sheet.rates.items() if code != sheet.base}


def rates_after(
    before: Rates, *, rates: Rates, removed_currencies: Collection[str], replace_all: bool
) -> dict[str, Decimal]:
    """
    Make the rates of a sheet from those before: its own, over those that are neither removed nor changed.

    A whole sheet keeps nothing, so every currency that it does not state is removed.
    """
    unchanged = {} if replace_all else {code: rate for code, rate in before.items() if code not in removed_currencies}
    return unchanged | dict(rates)


def to_confirm(before: Rates, rates: Rates, *, band: Decimal) -> dict[str, str]:
    """
    Find the rates that an approver must repeat: outside the band around the rate before, or without one before.

    One whose inverse lies inside the band is named `GBP:inverted`: it was probably quoted the other way round.
    """
    suspicious = {}
    for code, rate in sorted(rates.items()):
        if code not in before:
            suspicious[code] = plain(rate)
        elif not _is_near(rate, before[code], band):
            looks_inverted = _is_near(ONE, before[code] * rate, band)
            suspicious[f"{code}:{INVERTED}" if looks_inverted else code] = plain(rate)
    return suspicious


def _is_near(value: Decimal, other: Decimal, band: Decimal) -> bool:
    """
    Whether a value lies within a band around another, a part of that other; its ends are inside.

    1/rate lies within the band around a rate before exactly if 1 does around their product: nothing is divided.
    """
    return abs(value - other) <= other * band


CROSS_DECIMALS = 10
"""As many as a rate may have."""


class NotQuoted(Refused, code="not-quoted", title="The document quotes no such currency"):
    """The document quotes no such currency."""


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

        The quotient of the two quotes is exact until it is rounded, once, to 10 decimals, half to even. A rate of EUR
        (1 / quote) and one of any other base are figured alike.

        Raises: NotQuoted.
        """
        quotient = Fraction(self._quote(base)) / Fraction(self._quote(currency))
        return Decimal(round(quotient * 10**CROSS_DECIMALS)).scaleb(-CROSS_DECIMALS)

    def _quote(self, currency: str) -> Decimal:
        if currency == self.pivot:
            return ONE
        if currency not in self.quotes:
            message = f"The rates of {self.day} quote no {currency}."
            raise NotQuoted(message, currency=currency)
        return self.quotes[currency]
