"""The fields of a form: how each is shown, and how the typed text becomes a member of a payload."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from werkzeug.datastructures import MultiDict

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.money import from_minor, plain
from jackpot_service.domain.shapes import DAY, DECIMAL
from jackpot_service.pages.figures import MINUS
from jackpot_service.usecases.fields import MOST_DIGITS

Typed = MultiDict[str, str]
"""The text of a form, or of a query, by the names of its fields."""

MOST_WHOLE_DIGITS: Final = 18


class Control(StrEnum):
    """How a field is filled in, and what becomes of its text."""

    TEXT = "text"
    AMOUNT = "amount"
    """An exact number of units of a currency, or of none."""
    MINOR = "minor"
    """An amount of a currency, in units; the payload has it in minor units."""
    WHOLE = "whole"
    CHOICE = "choice"
    INSTANT = "instant"
    """A time in UTC."""
    MANY = "many"
    """Any of some choices; the payload has a list."""
    CARDS = "cards"
    """Any cards of a deck; the payload has a list."""
    TRUTH = "truth"


LISTS: Final = frozenset({Control.MANY, Control.CARDS})


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that can be chosen, and how people read it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """
    A field of a form. Its name is its place in the payload, with a slash between the levels.

    `section` is the title under which it stands with its neighbours. `unit` is the currency of its amount, and
    `unit_field` names the field in which that is chosen. `default` is shown until something is typed. An optional field
    that was left empty is no member of the payload.
    """

    name: str
    label: str
    control: Control = Control.TEXT
    hint: str = ""
    section: str = ""
    unit: str = ""
    unit_field: str = ""
    choices: Sequence[Choice] = ()
    default: Sequence[str] = ()
    is_required: bool = True

    @property
    def pointer(self) -> str:
        """Where an error of the API points that is about it."""
        return f"/payload/{self.name}"

    def is_at(self, pointer: str) -> bool:
        """Whether an error points to it, or into it."""
        return pointer == self.pointer or pointer.startswith(f"{self.pointer}/")

    def shown(self, typed: Typed) -> tuple[str, ...]:
        """The values that it shows: those that were typed, of which an unchecked box has none."""
        return tuple(typed.getlist(self.name))


class WrongText(Exception):
    """The text of a field cannot be read; the message says what it must be."""


@dataclass(slots=True)
class Reading:
    """
    A form as it was read: the members of its payload, and what is wrong with it by the pointers of its fields.

    `places` leads from a pointer into the payload to that of the form, where a row that was left empty comes before.
    """

    payload: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def place_of(self, pointer: str) -> str:
        """Return where in the form a pointer into the payload leads."""
        for start, place in self.places.items():
            if pointer == start or pointer.startswith(f"{start}/"):
                return place + pointer.removeprefix(start)
        return pointer


def read_fields(fields: Iterable[Field], typed: Typed) -> Reading:
    """Read the text of a form into a payload. The API's own schema reads that payload then, and says what it must."""
    reading = Reading()
    for each in fields:
        try:
            value = _value(each, typed)
        except WrongText as error:
            reading.errors[each.pointer] = str(error)
            continue
        if value is not None:
            put(reading.payload, each.name, value)
    return reading


def put(payload: dict[str, Any], name: str, value: object) -> None:
    """Put a value at its place in a payload."""
    *path, last = name.split("/")
    for part in path:
        payload = payload.setdefault(part, {})
    payload[last] = value


def defaults(fields: Iterable[Field], query: Typed) -> Typed:
    """Return the text of a form that nobody has filled in: of the query where that names a field, or the defaults."""
    typed: Typed = MultiDict()
    for each in fields:
        values = query.getlist(each.name) or each.default
        typed.setlist(each.name, [_shown_instant(text) if each.control is Control.INSTANT else text for text in values])
    return typed


def amount_of(minor: int | None, currency: str) -> tuple[str, ...]:
    """Write minor units as a field of an amount shows them; nothing for None."""
    return () if minor is None else (plain(from_minor(minor, CURRENCIES[currency].exponent)),)


def plain_or_empty(amount: Decimal | None) -> tuple[str, ...]:
    """Write an amount as a field shows it; nothing for None."""
    return () if amount is None else (plain(amount),)


def _value(each: Field, typed: Typed) -> object:
    """Raises: WrongText."""
    if each.control in LISTS:
        return typed.getlist(each.name) or (None if not each.is_required else [])
    if each.control is Control.TRUTH:
        return bool(typed.get(each.name))
    text = typed.get(each.name, "").strip()
    return _member(each, text, typed) if text else None


def _member(each: Field, text: str, typed: Typed) -> object:
    """Raises: WrongText."""
    match each.control:
        case Control.AMOUNT:
            return text.replace(MINUS, "-")
        case Control.MINOR:
            return _minor(text.replace(MINUS, "-"), each.unit or typed.get(each.unit_field, ""))
        case Control.WHOLE:
            return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_WHOLE_DIGITS else text
        case Control.INSTANT:
            return _instant(text)
        case _:
            return text


def _minor(text: str, currency: str) -> int:
    """Raises: WrongText."""
    known = CURRENCIES.get(currency)
    if known is None:
        message = "needs a currency"
        raise WrongText(message)
    if len(text) <= MOST_DIGITS and DECIMAL.fullmatch(text):
        whole, _, decimals = text.partition(".")
        decimals = decimals.rstrip("0")
        if len(decimals) <= known.exponent:
            return int(whole + decimals.ljust(known.exponent, "0"))
    example = str(from_minor(1250, known.exponent))
    message = f"must be an amount of {currency} with at most {known.exponent} decimals, such as {example}"
    raise WrongText(message)


_SECONDS: Final = len("2026-11-20T09:30:00")


def _instant(text: str) -> str:
    """Complete a time as a browser sends it, which has neither a zone nor, on the whole minute, seconds."""
    if text.endswith("Z") or len(text) > _SECONDS:
        return text
    return f"{text}:00Z" if len(text) == _SECONDS - len(":00") else f"{text}Z"


def _shown_instant(text: str) -> str:
    """Write a time, or a day, as a browser's field of a time shows it."""
    return f"{text}T00:00:00" if DAY.fullmatch(text) else text.removesuffix("Z")[:_SECONDS]


def choices_of(words: Mapping[str, str]) -> tuple[Choice, ...]:
    """Make choices of values and their labels."""
    return tuple(Choice(value, label) for value, label in words.items())
