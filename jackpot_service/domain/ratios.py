"""
Figures that compare: parts of a whole in per cent, and whether a difference means anything. Never money to be paid.

They are divisions and roots, so most of them are not finite; each is rounded once, from exact figures.
"""

from decimal import Decimal
from fractions import Fraction
from math import isqrt

from jackpot_service.domain.money import EXACT

DECIMALS = 10
"""Of a ratio, and of an amount that is only expected."""

ROOT_DECIMALS = 2


def rounded(number: Fraction) -> Decimal:
    """Write a number with ten decimals, rounded half to even."""
    return _scaled(round(number * 10**DECIMALS), DECIMALS)


def rounded_down(number: Fraction, decimals: int) -> Decimal:
    """Write a number that is not negative with so many decimals, rounded down."""
    return _scaled(int(number * 10**decimals), decimals)


def percent(part: Decimal | Fraction, whole: Decimal | Fraction) -> Decimal | None:
    """How many per cent of a whole a part is; None where there is no whole."""
    return rounded(100 * Fraction(part) / Fraction(whole)) if whole else None


def root(variance: Fraction) -> Decimal:
    """The standard deviation that belongs to a variance, rounded to two decimals, half up."""
    doubled = isqrt(int(4 * variance * 100**ROOT_DECIMALS))
    return _scaled((doubled + 1) // 2, ROOT_DECIMALS)


def deviations(difference: Decimal, variance: Fraction) -> Decimal | None:
    """How many standard deviations a difference is, rounded to two decimals; None without a variance."""
    if not variance:
        return None
    return root(Fraction(difference) ** 2 / variance).copy_sign(difference)


def _scaled(digits: int, decimals: int) -> Decimal:
    return Decimal(digits).scaleb(-decimals, EXACT)
