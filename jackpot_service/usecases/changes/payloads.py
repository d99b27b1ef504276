"""Reading the payload of a change request: strict, field by field, with a pointer to what is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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

    `at` is the pointer to it: a payload may hold another.
    """

    values: Mapping[str, Any]
    at: str = "/payload"
    _read: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether an optional field is there."""
        return name in self.values

    def identifier(self, name: str) -> str:
        """An id of ours or of the caller's."""
        return self._take(name, f"must be a string that matches {shapes.IDENTIFIER_PATTERN}", _identifier)

    def currency(self, name: str) -> str:
        """A currency's three capital letters."""
        return self._take(name, "must be a currency's three capital letters", _currency)

    def inner(self, name: str) -> "Payload":
        """An object with fields of its own, not empty."""
        return Payload(self._take(name, "must be an object", _object), _pointer(self.at, name))

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
        """A positive whole number of minor units."""
        return self._take(name, "must be a positive whole number of minor units", _minor)

    def instant(self, name: str) -> datetime:
        """A time by RFC 3339."""
        return self._take(name, "must be a time by RFC 3339 with its offset, such as 2026-11-20T09:30:00Z", _instant)

    def one_of(self, name: str, *choices: str) -> str:
        """One of some words."""
        return self._take(name, f"must be one of {', '.join(choices)}", lambda value: _choice(value, choices))

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
            flaws = tuple(Flaw(_pointer(self.at, name), BadPayload.code, "Unknown field.") for name in unknown)
            message = f"The payload has no field {', '.join(unknown)[:LONGEST_TEXT]}."
            raise BadPayload(message, flaws=flaws)

    def _take(self, name: str, wanted: str, read: Callable[[object], T]) -> T:
        self._read.add(name)
        try:
            return read(self.values[name])
        except (KeyError, ValueError):
            flaw = Flaw(_pointer(self.at, name), BadPayload.code, wanted)
            message = f"{flaw.pointer[1:].replace('/', '.')} {wanted}."
            raise BadPayload(message, flaws=(flaw,)) from None


def decimal_of(value: object) -> Decimal:
    """Read an exact decimal text. Raises: ValueError for anything else: a number, NaN, an exponent, white space."""
    if not isinstance(value, str) or not shapes.DECIMAL.fullmatch(value) or len(value) > MOST_DIGITS:
        raise ValueError
    return EXACT.create_decimal(value)


def identifier_of(value: object) -> str:
    """Read an id. Raises: ValueError."""
    return _identifier(value)


def _pointer(at: str, name: str) -> str:
    return f"{at}/" + name.replace("~", "~0").replace("/", "~1")


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError
    return value


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
    if type(value) is not int or not 0 < value <= shapes.LARGEST_MINOR:
        raise ValueError
    return value


def _instant(value: object) -> datetime:
    if not isinstance(value, str) or not shapes.INSTANT.fullmatch(value):
        raise ValueError
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        raise ValueError from None


def _choice(value: object, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError
    return value


def _mapping(value: object, item: Callable[[object], T]) -> dict[str, T]:
    if not isinstance(value, dict) or not value:
        raise ValueError
    return {name: item(inner) for name, inner in value.items()}


def _items(value: object, item: Callable[[object], T], least: int, most: int | None) -> tuple[T, ...]:
    if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
        raise ValueError
    return tuple(item(inner) for inner in value)
