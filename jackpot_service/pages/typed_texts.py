"""Texts that people type into forms, and what they mean: amounts in units of a currency, and times in UTC."""

import re
from typing import Final

from jackpot_service.domain.currencies import CURRENCIES, Currency
from jackpot_service.domain.shapes import DECIMAL, LARGEST_MINOR
from jackpot_service.pages.figures import MINUS, as_typed, minor
from jackpot_service.usecases.fields import MOST_DIGITS

_GROUPED: Final = re.compile(r"-?[0-9]{1,3}(?P<mark>[, \u00a0])[0-9]{3}((?P=mark)[0-9]{3})*(\.[0-9]+)?")
"""A number with marks between its thousands: 1,234,567.50."""

_ONE_COMMA: Final = re.compile(r"-?[0-9]+,[0-9]+")

_DECIMALS_OF_A_GROUP: Final = 3

_EXAMPLE_MINOR: Final = 1250


class WrongText(Exception):
    """The text of a field cannot be read; the message says what it must be."""


def minor_of(typed: str, currency: str, *, may_be_zero: bool = False, may_be_negative: bool = False) -> int:
    """
    Read an amount in units of a currency, such as 1,234.50, as minor units. Its digits are moved: nothing is rounded.

    A comma or a space stands only between thousands: 12,50 is no amount, and neither is 1,250 where a currency has
    three decimals. Raises: WrongText.
    """
    known = CURRENCIES.get(currency)
    if known is None:
        message = "needs a currency"
        raise WrongText(message)
    amount_minor = int(_digits(typed.strip().replace(MINUS, "-"), known))
    if amount_minor < 0 and not may_be_negative:
        message = "must not be below 0"
        raise WrongText(message)
    if not amount_minor and not may_be_zero:
        message = "must not be 0"
        raise WrongText(message)
    if abs(amount_minor) > LARGEST_MINOR:
        message = f"must be at most {minor(LARGEST_MINOR, currency)}"
        raise WrongText(message)
    return amount_minor


def _digits(text: str, currency: Currency) -> str:
    """Return the digits of an amount's minor units, after its sign. Raises: WrongText."""
    exponent = currency.exponent
    could_be_decimals = exponent >= _DECIMALS_OF_A_GROUP and _ONE_COMMA.fullmatch(text)
    grouped = None if could_be_decimals else _GROUPED.fullmatch(text)
    plain = text if grouped is None else text.replace(grouped["mark"], "")
    if len(plain) <= MOST_DIGITS and DECIMAL.fullmatch(plain):
        whole, _, decimals = plain.partition(".")
        decimals = decimals.rstrip("0")
        if len(decimals) <= exponent:
            return whole + decimals.ljust(exponent, "0")
    example = as_typed(_EXAMPLE_MINOR, currency.code)
    message = f"must be an amount in {currency.code} with at most {exponent} decimals, such as {example}"
    raise WrongText(message if exponent else f"must be a whole amount in {currency.code}, such as {example}")


SECONDS: Final = len("2026-11-20T09:30:00")
"""The length of a time with its seconds, as a browser has it."""


def instant_of(typed: str) -> str:
    """
    Complete a time of UTC as a browser sends it, which has no zone, nor seconds on the whole minute.

    Any other text stays, for the schema to refuse.
    """
    if typed.endswith("Z") or len(typed) > SECONDS:
        return typed
    return f"{typed}:00Z" if len(typed) == SECONDS - len(":00") else f"{typed}Z"
