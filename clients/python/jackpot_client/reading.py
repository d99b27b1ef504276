"""Reads the service's answers without lenience: a member that is missing or of another type is an error."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from jackpot_client.errors import ProtocolError

T = TypeVar("T")

Content = Mapping[str, Any]

_DECIMAL: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)


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

    Raises: ProtocolError.
    """
    hints = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    absent = _optional(kind) - content.keys()  # type: ignore[arg-type]  # as above
    members = {name: member(content, name, hint, where) for name, hint in hints.items() if name not in absent}
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
    if get_origin(kind) is tuple:
        items = value if isinstance(value, list) else _refuse(value, "a list", where)
        return tuple(_value(item, get_args(kind)[0], f"{where}/{at}") for at, item in enumerate(items))
    if is_dataclass(get_origin(kind) or kind):
        return decoded(kind, value if isinstance(value, dict) else _refuse(value, "an object", where), where)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _word(value, kind, where)
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


def _instant(value: object) -> datetime:
    """Return a time with its offset."""
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError
    return moment


def _object(value: object) -> Content:
    if not isinstance(value, dict):
        raise TypeError
    return value


_READERS: Final[Mapping[Any, tuple[str, Callable[[object], object]]]] = {
    bool: ("true or false", _flag),
    int: ("an integer", _whole),
    str: ("a string", _text),
    Decimal: ("a decimal string", _decimal),
    datetime: ("an RFC 3339 time with its offset", _instant),
    date: ("a day", _day),
    Mapping[str, Any]: ("an object", _object),
}


def _word(value: object, words: type[StrEnum], where: str) -> StrEnum:
    try:
        return words(_text(value))
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"{where} is a word this client does not know: {error}") from None


@cache
def _hints(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401  a dataclass, perhaps of a type: Page[FoundRound]
    plain = get_origin(kind) or kind
    parameters = dict(zip(getattr(plain, "__parameters__", ()), get_args(kind), strict=True))
    hints = get_type_hints(plain)
    return {field.name: _with(parameters, hints[field.name]) for field in fields(plain)}


@cache
def _optional(kind: Any) -> frozenset[str]:  # noqa: ANN401  as above
    plain = get_origin(kind) or kind
    return frozenset(field.name for field in fields(plain) if field.default is not MISSING)


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
