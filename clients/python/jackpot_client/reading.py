"""Reads the service's answers without lenience: what is missing, of another type or a float for money is an error."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from http import HTTPStatus
from types import NoneType, UnionType
from typing import Any, Final, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from jackpot_client.errors import FieldError, ProtocolError, Refusal
from jackpot_client.retrying import Answer

T = TypeVar("T")

Content = Mapping[str, Any]

_DECIMAL: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)

_PROBLEM_MEMBERS: Final = {"type", "title", "status", "detail", "instance", "code", "retryable", "errors"}


def content_of(answer: Answer) -> Content:
    """Return what a success says. Raises: Refusal for a problem, ProtocolError."""
    if answer.status in {HTTPStatus.OK, HTTPStatus.CREATED}:
        return read(answer.body)
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if answer.status < HTTPStatus.BAD_REQUEST or media_type != "application/problem+json":
        raise ProtocolError(f"status {answer.status} with {media_type or 'no type'}: {answer.body[:100]!r}")
    problem = read(answer.body)
    raise Refusal(
        status=answer.status,
        code=member(problem, "code", str),
        detail=member(problem, "detail", str),
        errors=member(problem, "errors", tuple[FieldError, ...]) if "errors" in problem else (),
        facts={name: value for name, value in problem.items() if name not in _PROBLEM_MEMBERS},
        request_id=answer.headers.get("X-Request-Id"),
        earlier_attempts_unknown=answer.earlier_attempts_unknown,
    )


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
    """Make a dataclass of an object that has all of its fields, each of its type. Raises: ProtocolError."""
    return kind(**{name: member(content, name, hint, where) for name, hint in _hints(kind).items()})  # type: ignore[arg-type]  # a class is hashable


def member(content: Content, name: str, hint: Any, where: str = "") -> Any:  # noqa: ANN401  a type, and what it says
    """Read a member, which may be null where its type says so, but not absent. Raises: ProtocolError."""
    if name not in content:
        raise ProtocolError(f"the answer lacks {where}/{name}")
    return _value(content[name], hint, f"{where}/{name}")


def _value(value: object, hint: Any, where: str) -> Any:  # noqa: ANN401  as above
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    if value is None and NoneType in kinds:
        return None
    if int in kinds and str in kinds:  # A number or word that is only compared, never figured with.
        kinds = (type(value),) if type(value) in kinds else (int,)
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    if get_origin(kind) is tuple:
        items = value if isinstance(value, list) else _refuse(value, "a list", where)
        return tuple(_value(item, get_args(kind)[0], f"{where}/{at}") for at, item in enumerate(items))
    if isinstance(kind, type) and is_dataclass(kind):
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
    found = datetime.fromisoformat(_text(value))
    if found.tzinfo is None:
        raise ValueError
    return found


def _object(value: object) -> Content:
    if not isinstance(value, dict):
        raise TypeError
    return value


_READERS: Final[Mapping[Any, tuple[str, Callable[[object], object]]]] = {
    int: ("an integer", _whole),
    str: ("a string", _text),
    Decimal: ("a decimal string", _decimal),
    datetime: ("an RFC 3339 time with its offset", _instant),
    dict[str, Any]: ("an object", _object),
}


def _word(value: object, words: type[StrEnum], where: str) -> StrEnum:
    try:
        return words(_text(value))
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"{where} is a word this client does not know: {error}") from None


@cache
def _hints(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401  a dataclass
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


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
