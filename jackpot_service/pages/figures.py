"""The one place where pages write what a person reads: amounts, numbers and times."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from jackpot_service.domain.money import from_minor, plain

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Written out: the names of months follow the language of the page, not of the machine."""


def moment(at: datetime) -> str:
    """Write a time to the second, in UTC: 23 Nov 2026, 19:45:53 UTC."""
    at = at.astimezone(UTC)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M:%S} UTC"


_WHOLE_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

_SIGNS: Final = {"EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$"}
"""Of currencies whose sign is of no other; any other currency is written by its code."""


def day_and_month(at: datetime) -> str:
    """Write a day that is not long ago, in UTC: 23 November."""
    at = at.astimezone(UTC)
    return f"{at.day} {_WHOLE_MONTHS[at.month - 1]}"


def sign(currency: str) -> str:
    """Write what stands close before an amount: a currency's sign, or its code and a space that does not break."""
    return _SIGNS.get(currency, f"{currency}\u00a0")


def in_units(amount_minor: int, exponent: int, *, without_zeros: bool = False) -> str:
    """
    Write an amount in minor units with its thousands apart: 130,710.94.

    With `without_zeros` a whole number of units has no decimals.
    """
    units = from_minor(amount_minor, exponent)
    is_short = without_zeros and amount_minor % 10**exponent == 0
    return f"{units:,.{0 if is_short else exponent}f}"


def count(number: int) -> str:
    """Write a number with its thousands apart."""
    return f"{number:,}"


def percent(part: Decimal) -> str:
    """Write a part of one as a percentage, exactly, without the sign behind it."""
    return plain(part * 100)


def words(identifier: str) -> str:
    """Write an identifier of ours as words: live-caribbean-stud is Live Caribbean Stud."""
    return identifier.replace("-", " ").replace("_", " ").title()


FILTERS: Final = {
    "moment": moment,
    "day_and_month": day_and_month,
    "sign": sign,
    "in_units": in_units,
    "count": count,
}
"""By their names in templates."""
