"""The fields of a form: how each is shown, and how the typed text becomes a member of a payload."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from werkzeug.datastructures import MultiDict

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.money import plain
from jackpot_service.domain.shapes import DAY
from jackpot_service.pages.figures import MINUS, as_typed
from jackpot_service.pages.typed_texts import SECONDS, WrongText, instant_of, minor_of

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

    `section` is the title under which it stands with its neighbours; they are folded while they are empty if all of
    them are `is_spare`. `unit` is the currency of its amount, and `unit_field` names the field in which that is chosen.
    An amount in minor units `may_be_negative`. `default` is shown until something is typed. An optional field that was
    left empty is no member of the payload.
    """

    name: str
    label: str
    control: Control = Control.TEXT
    hint: str = ""
    section: str = ""
    unit: str = ""
    unit_field: str = ""
    may_be_negative: bool = False
    choices: Sequence[Choice] = ()
    default: Sequence[str] = ()
    is_required: bool = True
    is_spare: bool = False

    @property
    def pointer(self) -> str:
        """Where an error of the API points that is about it."""
        return f"/payload/{self.name}"

    def is_at(self, pointer: str) -> bool:
        """Whether an error points to it, or into it."""
        return pointer == self.pointer or pointer.startswith(f"{self.pointer}/")


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
        stated = query.getlist(each.name)
        if each.control is Control.MINOR:
            stated = [_shown_minor(text, currency_of(each, typed)) for text in stated]
        elif each.control is Control.INSTANT:
            stated = [_shown_instant(text) for text in stated]
        typed.setlist(each.name, [text for text in stated if text] or list(each.default))
    return typed


def amount_of(minor: int | None, currency: str) -> tuple[str, ...]:
    """Write minor units as a field of an amount shows them; nothing for None."""
    return () if minor is None else (as_typed(minor, currency),)


def plain_or_empty(amount: Decimal | None) -> tuple[str, ...]:
    """Write an amount as a field shows it; nothing for None."""
    return () if amount is None else (plain(amount),)


def _value(each: Field, typed: Typed) -> object:
    """Raises: WrongText."""
    if each.control in LISTS:
        return typed.getlist(each.name) or (None if not each.is_required else [])
    if each.control is Control.TRUTH:
        return bool(typed.get(each.name))
    text = typed.get(each.name, "")
    if each.control is not Control.CHOICE:  # A choice is a value of the books, which may have spaces at its ends.
        text = text.strip()
    return _member(each, text, typed) if text else None


def _member(each: Field, text: str, typed: Typed) -> object:
    """Raises: WrongText."""
    match each.control:
        case Control.AMOUNT:
            return text.replace(MINUS, "-")
        case Control.MINOR:
            return minor_of(text, currency_of(each, typed), may_be_negative=each.may_be_negative)
        case Control.WHOLE:
            return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_WHOLE_DIGITS else text
        case Control.INSTANT:
            return instant_of(text)
        case _:
            return text


def currency_of(field: Field, typed: Typed) -> str:
    """Return the code of the currency of an amount, its own or the one that is chosen; empty if none is."""
    return field.unit or typed.get(field.unit_field, "")


def _shown_minor(text: str, currency: str) -> str:
    """Write minor units of an address as a field shows them; nothing for what no such amount is."""
    digits = text.removeprefix("-")
    is_whole = digits.isascii() and digits.isdigit() and len(digits) <= MOST_WHOLE_DIGITS
    return as_typed(int(text), currency) if is_whole and currency in CURRENCIES else ""


def _shown_instant(text: str) -> str:
    """Write a time, or a day, as a browser's field of a time shows it."""
    return f"{text}T00:00:00" if DAY.fullmatch(text) else text.removesuffix("Z")[:SECONDS]


def choices_of(words: Mapping[str, str]) -> tuple[Choice, ...]:
    """Make choices of values and their labels."""
    return tuple(Choice(value, label) for value, label in words.items())
