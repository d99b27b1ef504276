"""The one place where pages write what a person reads: amounts, numbers and times."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, Final

from markupsafe import Markup

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.languages import Language
from jackpot_service.domain.money import Rate, from_minor, plain
from jackpot_service.reports.round_calculation import Quotient
from jackpot_service.translations import words_in

MINUS: Final = "\N{MINUS SIGN}"

SPACE: Final = "\N{NO-BREAK SPACE}"
"""Between a number and its unit: no line breaks there."""

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Written out: the names of months follow the language of the page, not of the machine."""

_WORDS: Final = words_in(Language.ENGLISH)

_MINUTES_AN_HOUR: Final = 60
_HOURS_A_DAY: Final = 24


def moment(at: datetime) -> str:
    """Write a time to the second, in UTC: 23 Nov 2026, 19:45:53 UTC."""
    at = at.astimezone(UTC)
    return f"{day(at.date())}, {at:%H:%M:%S} UTC"


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
    return _SIGNS.get(currency, f"{currency}{SPACE}")


def in_units(amount_minor: int, exponent: int, *, without_zeros: bool = False) -> str:
    """
    Write an amount in minor units with its thousands apart: 130,710.94.

    With `without_zeros` a whole number of units has no decimals.
    """
    units = from_minor(amount_minor, exponent)
    is_short = without_zeros and amount_minor % 10**exponent == 0
    return _signed(f"{units:,.{0 if is_short else exponent}f}")


def title(identifier: str) -> str:
    """Write an identifier of ours as a title: live-caribbean-stud is Live Caribbean Stud."""
    return label(identifier).title()


def clock(at: datetime) -> str:
    """Write the time of the day of an instant, to the second, in UTC: 19:45:53."""
    return f"{at.astimezone(UTC):%H:%M:%S}"


def day(of: date | str) -> str:
    """Write a day, which facts have as ISO 8601 writes it: 23 Nov 2026."""
    if isinstance(of, str):
        of = date.fromisoformat(of)
    return f"{of.day} {_MONTHS[of.month - 1]} {of.year}"


def age(passed: timedelta) -> str:
    """Write how long ago something was, to the unit that matters, rounded down: 40 s, 12 min, 3 h 5 min, 2 d 4 h."""
    seconds = max(0, int(passed.total_seconds()))
    minutes = seconds // 60
    if not minutes:
        return f"{seconds}{SPACE}s"
    if minutes < _MINUTES_AN_HOUR:
        return f"{minutes}{SPACE}min"
    hours, minutes = divmod(minutes, _MINUTES_AN_HOUR)
    if hours < _HOURS_A_DAY:
        return f"{hours}{SPACE}h {minutes}{SPACE}min"
    days, hours = divmod(hours, _HOURS_A_DAY)
    return f"{days}{SPACE}d {hours}{SPACE}h"


def number(value: Decimal | int | str) -> str:
    """Write an exact number, of a fact too, with marks of thousands and without trailing zeros: 169,320.29425255."""
    return _signed(_WORDS.number(Decimal(value)))


def quotient(value: Quotient) -> str:
    """Write the result of a division with up to 18 decimals; "…" says that there are more."""
    return number(value.rounded) + ("" if value.is_exact else "…")


def per_cent(part: Decimal) -> str:
    """Write an exact part as per cent of a whole: 31.84 %."""
    return _signed(_WORDS.per_cent(part)).replace(" ", SPACE)


def hundredths(percent: Decimal, *, has_sign: bool = True) -> str:
    """Write a figure that is in per cent, rounded to two decimals: 31.84 %."""
    text = _signed(_WORDS.scaled(round(Fraction(percent) * 100), 2))
    return f"{text}{SPACE}%" if has_sign else text


def move(before: Decimal, after: Decimal) -> str:
    """Write by how many per cent a number moves, to two decimals: +2.13 %; empty from 0, and for what does not move."""
    if not before or before == after:
        return ""
    hundredths = round((Fraction(after) - Fraction(before)) / abs(Fraction(before)) * 10_000)
    sign_ = MINUS if after < before else "+"
    return f"{sign_}{_WORDS.scaled(abs(hundredths), 2)}{SPACE}%"


def money(amount_minor: int, rate: Rate) -> str:
    """Write an amount in minor units of a rate's currency, with all its decimals: EUR 1,785.75."""
    return f"{rate.currency}{SPACE}{_signed(_WORDS.scaled(amount_minor, rate.exponent))}"


def minor(amount_minor: int, currency: str) -> str:
    """Write an amount in minor units of a currency, with all its decimals: EUR 1,785.75."""
    return f"{currency}{SPACE}{in_units(amount_minor, CURRENCIES[currency].exponent)}"


def as_typed(amount_minor: int, currency: str) -> str:
    """Write an amount in minor units of a currency as a field of a form has it, without marks of thousands: 1785.75."""
    return f"{from_minor(amount_minor, CURRENCIES[currency].exponent):f}"


def exact(amount: Decimal | str, currency: str) -> str:
    """Write an exact amount in units of a currency, with at least its own decimals: EUR 169,320.29425255."""
    return f"{currency}{SPACE}{_with_decimals(Decimal(amount), CURRENCIES[currency].exponent)}"


def about(value: Decimal | str, currency: str, *, bare: bool = False) -> Markup:
    """
    Write an amount in units of a currency, cut to the currency's decimals; the exact one is its title and its value.

    It is rounded down, below zero too, so nothing is ever shown larger than it is. In a table that has a column of
    currencies it is `bare`.
    """
    return amount(Decimal(value), currency, is_exact=False, has_code=not bare)


def cut(amount: Decimal, currency: str) -> str:
    """Write an amount in units of a currency, rounded down to the currency's decimals: EUR 169,320.29."""
    exponent = CURRENCIES[currency].exponent
    rounded = amount.scaleb(exponent).to_integral_value(ROUND_FLOOR).scaleb(-exponent)
    return f"{currency}{SPACE}{_with_decimals(rounded, exponent)}"


def amount(value: Decimal, currency: str, *, is_exact: bool, has_code: bool) -> Markup:
    """
    Write an amount of a table, with its currency's code or under a head that names it.

    It is cut as by `about` unless it `is_exact`; either way its exact value is its title and its value.
    """
    code = f"{currency}{SPACE}"
    shown = exact(value, currency) if is_exact else cut(value, currency)
    text = shown if has_code else shown.removeprefix(code)
    return Markup('<data value="{}" title="{}">{}</data>').format(plain(value), exact(value, currency), text)


def label(word: str) -> str:
    """Write a word of the contract as people write it: royal_flush is royal flush."""
    return word.replace("_", " ").replace("-", " ")


def document(facts: Mapping[str, Any]) -> str:
    """Write facts as JSON that a person reads: indented, by name. A template escapes it."""
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False)


def _with_decimals(amount: Decimal, least: int) -> str:
    whole, _, decimals = number(amount).partition(".")
    padded = decimals.ljust(least, "0")
    return f"{whole}.{padded}" if padded else whole


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


FILTERS: Final = {
    "about": about,
    "age": age,
    "as_typed": as_typed,
    "clock": clock,
    "cut": cut,
    "day": day,
    "day_and_month": day_and_month,
    "document": document,
    "exact": exact,
    "exact_value": plain,
    "hundredths": hundredths,
    "in_units": in_units,
    "label": label,
    "minor": minor,
    "moment": moment,
    "money": money,
    "number": number,
    "per_cent": per_cent,
    "quotient": quotient,
    "sign": sign,
}
"""By their names in templates."""
