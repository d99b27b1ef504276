"""Reads the service's answers without lenience: a member that is missing or of another type is an error."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from jackpot_client.choosing import CHOICE, Choice
from jackpot_client.errors import ProtocolError

T = TypeVar("T")

Content = Mapping[str, Any]

_DECIMAL: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_FRACTION: Final = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?", re.ASCII)


def read(body: bytes) -> Content:
    """
    Read an answer that must be one JSON object.

    Numbers with a point become Decimal, never float; a field ending in `_minor` must be a whole number (or null).

    Raises: ProtocolError if it is anything else, or says a thing twice.
    """
    try:
        value = json.loads(body, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the answer is not JSON of this service ({error}): {body[:100]!r}") from error
    if not isinstance(value, dict):
        raise ProtocolError(f"the answer is not a JSON object: {body[:100]!r}")
    return value


def decoded(kind: type[T], content: Content, where: str = "") -> T:
    """
    Make a dataclass of an object that has all of its fields, each of its type; one with a default may be absent.

    The object's other members are ignored. A trailing `_` of a field's name is none of its member's (`from_`).

    Raises: ProtocolError.
    """
    members = {
        part.field: member(content, part.name, part.hint_in(content), where)
        for part in _members(kind)  # type: ignore[arg-type]  # a class is hashable
        if part.name in content or not part.is_optional
    }
    # A generic class makes a value, which then cannot note its parameters: it has slots.
    return (get_origin(kind) or kind)(**members)


def member(content: Content, name: str, hint: Any, where: str = "") -> Any:  # noqa: ANN401  a type, and what it says
    """Read a member, which may be null where its type says so, but not absent. Raises: ProtocolError."""
    if name not in content:
        raise ProtocolError(
            f"the answer lacks {where}/{name}: the service is of a version that this client cannot read"
        )
    return _value(content[name], hint, f"{where}/{name}")


def _value(value: object, hint: Any, where: str) -> Any:  # noqa: ANN401  as above
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    if value is None and NoneType in kinds:
        return None
    kind, *rest = (kind for kind in kinds if kind is not NoneType)
    if str in rest and isinstance(value, str):  # A word of which a later version may have more.
        return kind(value) if value in {word.value for word in kind} else value
    read_structure = _structure_of(kind)
    return _plain(value, kind, where) if read_structure is None else read_structure(value, kind, where)


@cache
def _structure_of(kind: Any) -> Callable[[object, Any, str], Any] | None:  # noqa: ANN401  a type
    """Return the function that reads a type that is made of others, or of words."""
    if is_dataclass(get_origin(kind) or kind):
        return _object
    if get_origin(kind) is tuple:
        return _items
    if get_origin(kind) is Mapping:
        return _by_name
    if isinstance(kind, type) and issubclass(kind, tuple):
        return _row
    return _word if isinstance(kind, type) and issubclass(kind, StrEnum) else None


def _object(value: object, kind: Any, where: str) -> Any:  # noqa: ANN401  a dataclass, and its value
    return decoded(kind, value if isinstance(value, dict) else _refuse(value, "an object", where), where)


def _items(value: object, kind: Any, where: str) -> tuple[Any, ...]:  # noqa: ANN401  a type
    items = value if isinstance(value, list) else _refuse(value, "a list", where)
    return tuple(_value(item, get_args(kind)[0], f"{where}/{at}") for at, item in enumerate(items))


def _by_name(value: object, kind: Any, where: str) -> Content:  # noqa: ANN401  a type
    content = value if isinstance(value, dict) else _refuse(value, "an object", where)
    hint = get_args(kind)[1]
    return content if hint is Any else {name: member(content, name, hint, where) for name in content}


def _row(value: object, kind: Any, where: str) -> Any:  # noqa: ANN401  a named tuple, and its value
    hints = _row_hints(kind)
    if not isinstance(value, list) or len(value) != len(hints):
        _refuse(value, f"a list of {len(hints)} items", where)
    return kind(*(_value(item, hints[at], f"{where}/{at}") for at, item in enumerate(value)))


def _word(value: object, words: type[StrEnum], where: str) -> StrEnum:
    try:
        return words(_text(value))
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"{where} is a word this client does not know: {error}") from None


def _plain(value: object, kind: Any, where: str) -> object:  # noqa: ANN401  a type
    expected, read_value = _READERS[kind]
    try:
        return read_value(value)
    except (TypeError, ValueError):
        _refuse(value, expected, where)


def _whole(value: object) -> int:
    """Return an integer; true, 1.0 and "1" are none."""
    if type(value) is not int:
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _day(value: object) -> date:
    return date.fromisoformat(_text(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _decimal(value: object) -> Decimal:
    """Return an exact amount from its decimal string; a JSON number is none, however it looks."""
    if not _DECIMAL.fullmatch(_text(value)):
        raise ValueError
    return Decimal(_text(value))


def _fraction(value: object) -> Fraction:
    """Return an exact amount from its whole number or its fraction."""
    if not _FRACTION.fullmatch(_text(value)):
        raise ValueError
    return Fraction(_text(value))


def _instant(value: object) -> datetime:
    """Return a time with its offset."""
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError
    return moment


_READERS: Final[Mapping[Any, tuple[str, Callable[[object], object]]]] = {
    bool: ("true or false", _flag),
    int: ("an integer", _whole),
    str: ("a string", _text),
    Decimal: ("a decimal string", _decimal),
    Fraction: ("a fraction", _fraction),
    datetime: ("an RFC 3339 time with its offset", _instant),
    date: ("a day", _day),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A member of an object, for a field of a dataclass."""

    field: str
    name: str
    hint: Any
    is_optional: bool
    choice: Choice | None

    def hint_in(self, content: Content) -> Any:  # noqa: ANN401  a type
        """Return its type in an object, where another member may decide it."""
        if self.choice is None:
            return self.hint
        word = content.get(self.choice.by)
        kind = self.choice.kinds.get(word, Content) if isinstance(word, str) else Content
        return kind | None if NoneType in get_args(self.hint) else kind


@cache
def _members(kind: Any) -> tuple[_Member, ...]:  # noqa: ANN401  a dataclass, perhaps of a type: Page[FoundRound]
    plain = get_origin(kind) or kind
    parameters = dict(zip(getattr(plain, "__parameters__", ()), get_args(kind), strict=True))
    hints = get_type_hints(plain)
    return tuple(
        _Member(
            field=field.name,
            name=field.name.removesuffix("_"),
            hint=_with(parameters, hints[field.name]),
            is_optional=field.default is not MISSING or field.default_factory is not MISSING,
            choice=field.metadata.get(CHOICE),
        )
        for field in fields(plain)
    )


@cache
def _row_hints(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401  a named tuple
    hints = get_type_hints(kind)
    return tuple(hints[name] for name in kind._fields)


def _with(parameters: Mapping[Any, Any], hint: Any) -> Any:  # noqa: ANN401  a type
    """Return a type with the parameters of its dataclass."""
    if not parameters:
        return hint
    return (
        hint[tuple(parameters[parameter] for parameter in hint.__parameters__)]
        if getattr(hint, "__parameters__", ())
        else hint
    )


def _refuse(value: object, expected: str, where: str) -> NoReturn:
    raise ProtocolError(f"{where} is not {expected}: {value!r:.100}")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(members)
    if len(content) != len(members):
        raise ValueError("a member stands twice in one object")
    for name, value in members:
        if name.endswith("_minor") and value is not None and type(value) is not int:
            raise ValueError(f"{name} is not whole minor units")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
