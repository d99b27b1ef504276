"""
Readers of single values: each returns exactly what the contract says, or raises what is wrong, in the words of a field.

Fields of a body or a query, parts of a path, and forms of the pages read by them.
"""

from datetime import UTC, date, datetime, time

from marshmallow import ValidationError

from jackpot_service.domain.shapes import CURRENCY, DAY, IDENTIFIER, INSTANT, LARGEST_MINOR, WALL_CLOCK

NO_IDENTIFIER = "must be 1 to 64 letters, digits or . _ : -, without accents or spaces, such as riga-1"
A_TIME = "must be a time such as 2026-11-20T09:30:00Z"
A_DAY = "must be a day, such as 2026-11-20"
A_DAY_OR_TIME = "must be a day or a time, such as 2026-11-20 or 2026-11-20T09:30:00Z"


def identifier(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and IDENTIFIER.fullmatch(value):
        return value
    raise ValidationError(NO_IDENTIFIER)


def currency_code(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and CURRENCY.fullmatch(value):
        return value
    message = "must be a currency's three capital letters, such as EUR"
    raise ValidationError(message)


def stake(value: object) -> int:
    """Raises: ValidationError."""
    if type(value) is int and 0 < value <= LARGEST_MINOR:
        return value
    message = f"must be a whole number of minor units from 1 to {LARGEST_MINOR}, such as 250"
    raise ValidationError(message)


def instant(value: object) -> datetime:
    """Raises: ValidationError."""
    return _instant(value, A_TIME)


def instant_or_day(value: object) -> datetime | date:
    """Raises: ValidationError."""
    if type(value) is str and DAY.fullmatch(value):
        return _day(value, A_DAY_OR_TIME)
    return _instant(value, A_DAY_OR_TIME)


def calendar_day(value: object) -> date:
    """Raises: ValidationError."""
    if type(value) is str and DAY.fullmatch(value):
        return _day(value, A_DAY)
    raise ValidationError(A_DAY)


def _instant(value: object, expected: str) -> datetime:
    if type(value) is not str:
        raise ValidationError(expected)
    if INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise ValidationError(f"{_wrong_with(value, expected)}{expected}")


def _wrong_with(text: str, expected: str) -> str:
    """Say what is wrong with a time, as the beginning of a sentence; nothing of what is like none."""
    day, rest = text[:10], text[10:]
    if not DAY.fullmatch(day):
        return ""
    _day(day, expected)
    if not rest:
        return "is a day without a time; "
    if INSTANT.fullmatch(text):
        return "names a time that does not exist; "
    if INSTANT.fullmatch(text.replace(" ", "+")):
        return "has a blank for a sign (in an address, + is written %2B); "
    return "has no offset from UTC; " if INSTANT.fullmatch(f"{text}Z") else ""


def _day(text: str, expected: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = f"names {text}, a day that does not exist; {expected}"
        raise ValidationError(message) from None


def wall_clock(value: object) -> time:
    """Raises: ValidationError."""
    if type(value) is str and WALL_CLOCK.fullmatch(value):
        return time.fromisoformat(value)
    message = "must be a time of the day such as 06:00"
    raise ValidationError(message)
