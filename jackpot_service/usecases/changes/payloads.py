"""Reading the payload of a change request: strict, field by field, with a pointer to what is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeVar

from jackpot_service.domain import shapes
from jackpot_service.domain.errors import Flaw
from jackpot_service.domain.money import EXACT
from jackpot_service.usecases.changes.kinds import BadPayload

LONGEST_TEXT = 500
MOST_DIGITS = 60

T = TypeVar("T")


@dataclass(slots=True)
class Payload:
    """
    A payload being read: each method takes one field out; `end` refuses what nobody took.

    `at` points to where it stands in the request.
    """

    values: Mapping[str, Any]
    at: str = "/payload"
    _read: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether an optional field is there."""
        return name in self.values

    def perhaps(self, name: str, read: Callable[[str], T]) -> T | None:
        """What one of the methods reads of an optional field; None if it is not there."""
        return read(name) if self.has(name) else None

    def identifier(self, name: str) -> str:
        """An id of ours or of the caller's."""
        return self._take(name, f"must be a string that matches {shapes.IDENTIFIER_PATTERN}", _identifier)

    def currency(self, name: str) -> str:
        """A currency's three capital letters."""
        return self._take(name, "must be a currency's three capital letters", _currency)

    def whole(self, name: str) -> int:
        """A whole number, 0 or more."""
        return self._take(name, "must be a whole number, 0 or more", _whole)

    def text(self, name: str) -> str:
        """A line of text for people."""
        return self._take(name, f"must be a text of 1 to {LONGEST_TEXT} printable characters", _text)

    def amount(self, name: str) -> Decimal:
        """An exact decimal number, as a text; it may be negative."""
        return self._take(name, 'must be a plain decimal number in a string, such as "-12.50"', decimal_of)

    def minor(self, name: str) -> int:
        """A whole number of minor units, not 0; it may be negative."""
        return self._take(name, "must be a whole number of minor units, not 0", _minor)

    def instant(self, name: str) -> datetime:
        """A time by RFC 3339."""
        return self._take(name, "must be a time by RFC 3339 with its offset, such as 2026-11-20T09:30:00Z", _instant)

    def instant_or_day(self, name: str) -> datetime | date:
        """A time by RFC 3339, or a day of the calendar."""
        return self._take(name, "must be a time by RFC 3339 with its offset, or a day", _instant_or_day)

    def one_of(self, name: str, *choices: str) -> str:
        """One of some words."""
        return self._take(name, f"must be one of {', '.join(choices)}", lambda value: _choice(value, choices))

    def flag(self, name: str) -> bool:
        """True or false."""
        return self._take(name, "must be true or false", _flag)

    def day(self, name: str) -> date:
        """A day of the calendar."""
        return self._take(name, "must be a day, such as 2026-11-20", _day)

    def sha256(self, name: str) -> str:
        """A SHA-256, as 64 lower-case hexadecimal digits."""
        return self._take(name, "must be 64 hexadecimal digits in lower case", _sha256)

    def nested(self, name: str) -> "Payload":
        """An object that is read field by field, to its own `end`."""
        return Payload(self._take(name, "must be an object", _object), f"{self.at}/{_escaped(name)}")

    def mapping(self, name: str, item: Callable[[object], T], *, what: str) -> dict[str, T]:
        """An object whose values are all read alike."""
        return self._take(name, f"must be an object of {what}", lambda value: _mapping(value, item))

    def items(
        self, name: str, item: Callable[[object], T], *, what: str, least: int = 1, most: int | None = None
    ) -> tuple[T, ...]:
        """A list of so many items, which are all read alike."""
        return self._take(name, f"must be a list of {what}", lambda value: _items(value, item, least, most))

    def end(self) -> None:
        """Raises: BadPayload for a field that such a payload does not have."""
        unknown = sorted(self.values.keys() - self._read)
        if unknown:
            flaws = tuple(Flaw(self._pointer(name), BadPayload.code, "Unknown field.") for name in unknown)
            message = f"The payload has no field {', '.join(unknown)[:LONGEST_TEXT]}."
            raise BadPayload(message, flaws=flaws)

    def _take(self, name: str, wanted: str, read: Callable[[object], T]) -> T:
        self._read.add(name)
        try:
            return read(self.values[name])
        except (KeyError, ValueError) as error:
            pointer = self._pointer(name, *error.args if isinstance(error, _Inside) else ())
            message = f"{pointer.removeprefix('/')[:LONGEST_TEXT]} {wanted}."
            raise BadPayload(message, flaws=(Flaw(pointer, BadPayload.code, wanted),)) from None

    def _pointer(self, *names: str) -> str:
        return "/".join([self.at, *map(_escaped, names)])


class _Inside(ValueError):
    """An item of a field is wrong; its one argument is the item's name."""


def flawed(field: str, wrong: str) -> BadPayload:
    """A refusal that points to a field of the payload, and says what is wrong with it."""
    message = f"payload/{field} {wrong}."
    return BadPayload(message, flaws=(Flaw(f"/payload/{field}", BadPayload.code, wrong),))


def decimal_of(value: object) -> Decimal:
    """Read an exact decimal text. Raises: ValueError for anything else: a number, NaN, an exponent, white space."""
    if not isinstance(value, str) or not shapes.DECIMAL.fullmatch(value) or len(value) > MOST_DIGITS:
        raise ValueError
    return EXACT.create_decimal(value)


def identifier_of(value: object) -> str:
    """Read an id. Raises: ValueError."""
    return _identifier(value)


def currency_of(value: object) -> str:
    """Read a currency's three capital letters. Raises: ValueError."""
    return _currency(value)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value <= shapes.LARGEST_MINOR:
        raise ValueError
    return value


def _identifier(value: object) -> str:
    if not isinstance(value, str) or not shapes.IDENTIFIER.fullmatch(value):
        raise ValueError
    return value


def _currency(value: object) -> str:
    if not isinstance(value, str) or not shapes.CURRENCY.fullmatch(value):
        raise ValueError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT or not value.isprintable():
        raise ValueError
    if not value.strip():
        raise ValueError
    return value


def _minor(value: object) -> int:
    if type(value) is not int or not 0 < abs(value) <= shapes.LARGEST_MINOR:
        raise ValueError
    return value


def _instant(value: object) -> datetime:
    if not isinstance(value, str) or not shapes.INSTANT.fullmatch(value):
        raise ValueError
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        raise ValueError from None


def _instant_or_day(value: object) -> datetime | date:
    is_day = isinstance(value, str) and shapes.DAY.fullmatch(value)
    return _day(value) if is_day else _instant(value)


def _flag(value: object) -> bool:
    if value is not True and value is not False:
        raise ValueError
    return value


def _day(value: object) -> date:
    if not isinstance(value, str) or not shapes.DAY.fullmatch(value):
        raise ValueError
    return date.fromisoformat(value)


def _sha256(value: object) -> str:
    if not isinstance(value, str) or not shapes.SHA256.fullmatch(value):
        raise ValueError
    return value


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError
    return value


def _choice(value: object, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError
    return value


def _mapping(value: object, item: Callable[[object], T]) -> dict[str, T]:
    if not isinstance(value, dict) or not value:
        raise ValueError
    return {name: _inside(name, item, inner) for name, inner in value.items()}


def _inside(name: str, item: Callable[[object], T], inner: object) -> T:
    try:
        return item(inner)
    except ValueError:
        raise _Inside(name) from None


def _items(value: object, item: Callable[[object], T], least: int, most: int | None) -> tuple[T, ...]:
    if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
        raise ValueError
    return tuple(_inside(str(place), item, inner) for place, inner in enumerate(value))
