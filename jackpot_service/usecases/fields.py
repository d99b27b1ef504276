"""
Field types that take exactly what the contract says, and nothing that only looks like it.

marshmallow's own integers take 5.7 and "5", its decimals round; these refuse.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, TypeVar, cast

from marshmallow import RAISE, Schema, ValidationError, fields

from jackpot_service.domain.shapes import (
    ACCOUNT,
    ACCOUNT_PATTERN,
    CURRENCY_PATTERN,
    DECIMAL,
    DEPARTMENT,
    DEPARTMENT_PATTERN,
    IDENTIFIER_PATTERN,
    LARGEST_MINOR,
    SHA256,
    WALL_CLOCK,
)
from jackpot_service.usecases.readers import (
    calendar_day,
    currency_code,
    identifier,
    instant,
    instant_or_day,
    wall_clock,
)

LONGEST_TEXT = 500
MOST_DIGITS = 60
MOST_CURRENCIES = 8

NO_DECIMAL = f'must be a plain decimal number in a string, such as "-12.50", of at most {MOST_DIGITS} characters'

T = TypeVar("T")


IS_UNKNOWN = "is unknown"
IS_MISSING = "is missing"
"""Every reader says so of a member that it does not know, and of one that is not there."""


class OfMember(str):
    """A message about a member: `_schema`, marshmallow's name for the object itself, is then the name of a member."""

    __slots__ = ()


class StrictSchema(Schema):
    """An object; what it does not name is refused."""

    error_messages: dict[str, str] = {"unknown": OfMember(IS_UNKNOWN), "type": "must be an object"}  # noqa: RUF012  as the base

    class Meta:  # noqa: D106  marshmallow's options
        unknown = RAISE


class ReadField(fields.Field[T]):
    """
    A field that one method reads, whatever it is called or stands in.

    `described` is what the OpenAPI description says of it. A field that takes values as they are says by `accepts`
    which, and in `wrong` what a value must be.
    """

    described: ClassVar[Mapping[str, Any]] = {}
    wrong: str

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(metadata={**self.described, **(metadata or {})}, **kwargs)

    def read(self, value: object) -> T:
        """Turn the raw value into what it means. Raises: ValidationError."""
        if self.accepts(value):
            return cast("T", value)
        raise ValidationError(self.wrong)

    def accepts(self, _value: object) -> bool:
        """Whether the value is one as it is."""
        return False

    def _deserialize(self, value: object, *_: object, **__: object) -> T:
        return self.read(value)


class Identifier(ReadField[str]):
    """An id of the caller's."""

    described: ClassVar = {"type": "string", "pattern": IDENTIFIER_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return identifier(value)


class AccountName(ReadField[str]):
    """The name of an account of the books."""

    described: ClassVar = {"type": "string", "pattern": ACCOUNT_PATTERN}
    wrong = "must be the name of an account, such as pool:reserve"

    def accepts(self, value: object) -> bool:
        """Whether the value could be one."""
        return type(value) is str and ACCOUNT.fullmatch(value) is not None


class Department(ReadField[str]):
    """A department of the house or of a casino."""

    described: ClassVar = {"type": "string", "pattern": DEPARTMENT_PATTERN}
    wrong = "must be 1 to 64 small letters, digits and hyphens"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is str and DEPARTMENT.fullmatch(value) is not None


class CurrencyCode(ReadField[str]):
    """A currency's three capital letters."""

    described: ClassVar = {"type": "string", "pattern": CURRENCY_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return currency_code(value)


class CurrencyCodes(ReadField[tuple[str, ...]]):
    """A few currencies in a query, with commas between, none twice; `default` says which they are if none is named."""

    def __init__(
        self,
        *,
        most: int = MOST_CURRENCIES,
        default: str = "the base currency",
        **kwargs: Any,  # noqa: ANN401  as the base
    ) -> None:
        code = CURRENCY_PATTERN.strip("^$")
        described = {
            "type": "string",
            "pattern": f"^{code}(,{code}){{0,{most - 1}}}$",
            "description": f"At most {most}, with commas between; {default} if none is named.",
        }
        super().__init__(metadata=described, **kwargs)
        self.most = most

    def read(self, value: object) -> tuple[str, ...]:
        """Raises: ValidationError."""
        codes = tuple(map(currency_code, value.split(","))) if isinstance(value, str) else ()
        if not 1 <= len(codes) <= self.most or len(set(codes)) < len(codes):
            message = f"must be 1 to {self.most} currencies, with commas between and none twice, such as EUR,GBP"
            raise ValidationError(message)
        return codes


class Whole(ReadField[int]):
    """A whole number, written as one: no 1.0, no 1e2, no "5", no true."""

    def __init__(
        self,
        *,
        most: int,
        least: int = 0,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(metadata={"type": "integer", "minimum": least, "maximum": most, **(metadata or {})}, **kwargs)
        self.least, self.most, self.wrong = least, most, f"must be a whole number from {least} to {most}"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is int and self.least <= value <= self.most


class QueryNumber(ReadField[int]):
    """A whole number of a query, within bounds."""

    def __init__(self, least: int, most: int, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        described = {"type": "integer", "minimum": least, "maximum": most}
        super().__init__(metadata={**described, **(metadata or {})}, **kwargs)
        self.least, self.most = least, most

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value) and self.least <= int(value) <= self.most:
            return int(value)
        message = f"must be a whole number from {self.least} to {self.most}"
        raise ValidationError(message)


class Text(ReadField[str]):
    """A line of text for people: 1 to 500 characters, none of them a control character."""

    described: ClassVar = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
    wrong = f"must be a text of 1 to {LONGEST_TEXT} printable characters"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is str and 1 <= len(value) <= LONGEST_TEXT and value.isprintable() and bool(value.strip())


class Base64(ReadField[bytes]):
    """Bytes, written in base64 with its padding; at most so many."""

    def __init__(self, *, most: int, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        described = {"type": "string", "format": "byte", "maxLength": -(-most // 3) * 4}
        super().__init__(metadata={**described, **(metadata or {})}, **kwargs)
        self.most = most

    def read(self, value: object) -> bytes:
        """Raises: ValidationError."""
        try:
            content = base64.b64decode(value, validate=True) if type(value) is str else None
        except ValueError:
            content = None
        if content is not None and 1 <= len(content) <= self.most:
            return content
        message = f"must be 1 to {self.most} bytes in base64"
        raise ValidationError(message)


class Flag(ReadField[bool]):
    """A yes or no of a query: `true` or `false`."""

    described: ClassVar = {"type": "boolean"}

    def read(self, value: object) -> bool:
        """Raises: ValidationError."""
        if value in {"true", "false"}:
            return value == "true"
        message = "must be true or false"
        raise ValidationError(message)


class Truth(ReadField[bool]):
    """A yes or no of a body: `true` or `false`, and no 1, which Python takes for true."""

    described: ClassVar = {"type": "boolean"}
    wrong = "must be true or false"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is bool


class JsonObject(ReadField[dict[str, Any]]):
    """An object whose fields somebody else reads."""

    described: ClassVar = {"type": "object"}
    wrong = "must be an object"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return isinstance(value, dict)


class Instant(ReadField[datetime]):
    """A time by RFC 3339, turned to UTC."""

    described: ClassVar = {"type": "string", "format": "date-time"}

    def read(self, value: object) -> datetime:
        """Raises: ValidationError."""
        return instant(value)


class InstantOrDay(ReadField[datetime | date]):
    """A time by RFC 3339, or a day of the calendar."""

    described: ClassVar = {"type": "string"}

    def read(self, value: object) -> datetime | date:
        """Raises: ValidationError."""
        return instant_or_day(value)


class WallClock(ReadField[time]):
    """A time of the day by the clock on the wall, in hours and minutes."""

    described: ClassVar = {"type": "string", "pattern": f"^{WALL_CLOCK.pattern}$"}

    def read(self, value: object) -> time:
        """Raises: ValidationError."""
        return wall_clock(value)


class Day(ReadField[date]):
    """A day of the calendar."""

    described: ClassVar = {"type": "string", "format": "date"}

    def read(self, value: object) -> date:
        """Raises: ValidationError."""
        return calendar_day(value)


class Sha256(ReadField[str]):
    """A SHA-256."""

    described: ClassVar = {"type": "string", "pattern": f"^{SHA256.pattern}$"}
    wrong = "must be 64 hexadecimal digits in lower case"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is str and SHA256.fullmatch(value) is not None


class Amount(ReadField[Decimal]):
    """An exact decimal number in a string; no number, no exponent, no white space. It may be negative."""

    described: ClassVar = {"type": "string", "format": "decimal", "pattern": f"^{DECIMAL.pattern}$"}

    def read(self, value: object) -> Decimal:
        """Raises: ValidationError."""
        if type(value) is str and len(value) <= MOST_DIGITS and DECIMAL.fullmatch(value):
            return Decimal(value)
        raise ValidationError(NO_DECIMAL)


class MinorUnits(ReadField[int]):
    """A whole number of minor units that is not 0. It may be negative."""

    described: ClassVar = {"type": "integer", "minimum": -LARGEST_MINOR, "maximum": LARGEST_MINOR, "not": {"const": 0}}
    wrong = "must be a whole number of minor units and not 0, such as -250"

    def accepts(self, value: object) -> bool:
        """Whether the value is such a one."""
        return type(value) is int and 0 < abs(value) <= LARGEST_MINOR


def each(reader: Callable[[object], T], values: Iterable[tuple[Any, object]]) -> dict[Any, T]:
    """Read each value, by its name or place. Raises: ValidationError that names all that are wrong."""
    read: dict[Any, T] = {}
    wrong: dict[str, Any] = {}
    for name, value in values:
        try:
            read[name] = reader(value)
        except ValidationError as error:
            wrong[str(name)] = _marked(error.messages)
    if wrong:
        raise ValidationError(wrong)
    return read


def _marked(messages: Any) -> Any:  # noqa: ANN401  marshmallow's messages
    return [OfMember(message) for message in messages] if isinstance(messages, list) else messages


class ObjectOf(ReadField[dict[str, T]]):
    """An object of at least one member, whose values one field reads."""

    def __init__(self, value: ReadField[T], *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        described = {"type": "object", "minProperties": 1, "additionalProperties": dict(value.metadata)}
        super().__init__(metadata={**described, **(metadata or {})}, **kwargs)
        self.value = value

    def read(self, value: object) -> dict[str, T]:
        """Raises: ValidationError, by member."""
        if not isinstance(value, dict) or not value:
            message = "must be an object with at least one member"
            raise ValidationError(message)
        return each(self.value.read, value.items())


MOST_FIGURES = 300
"""More than a change can have that are unusual: there are not so many currencies."""


class Figures(ReadField[dict[str, Decimal]]):
    """Exact numbers by name; there may be none. How many there are is looked at first."""

    described: ClassVar = {
        "type": "object",
        "maxProperties": MOST_FIGURES,
        "additionalProperties": dict(Amount.described),
    }

    def read(self, value: object) -> dict[str, Decimal]:
        """Raises: ValidationError, by member."""
        if not isinstance(value, dict) or len(value) > MOST_FIGURES:
            message = f"must be an object of at most {MOST_FIGURES} members"
            raise ValidationError(message)
        return each(Amount().read, value.items())


class ListOf(ReadField[tuple[T, ...]]):
    """A list of `least` to `most` items, which one field reads; its length is looked at first."""

    def __init__(self, item: ReadField[T], *, most: int, least: int = 1, **kwargs: Any) -> None:  # noqa: ANN401
        described: dict[str, Any] = {"type": "array", "minItems": least, "maxItems": most, "items": dict(item.metadata)}
        default = kwargs.get("load_default")
        if default is not None and len(default) >= least:
            described["default"] = list(default)
        elif default is not None:  # It is called, so the description shows none: an empty list cannot be sent.
            kwargs["load_default"] = partial(tuple, default)
        super().__init__(metadata=described, **kwargs)
        self.item, self.least, self.most = item, least, most

    def read(self, value: object) -> tuple[T, ...]:
        """Raises: ValidationError, by place."""
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            message = f"must be a list of {self.least} to {self.most} items"
            raise ValidationError(message)
        return tuple(each(self.item.read, enumerate(value)).values())


def require_at_most(values: Sequence[object], most: int) -> None:
    """Look at the length of a list before anything in it is. Raises: ValidationError."""
    if len(values) > most:
        message = f"must hold at most {most}, not {len(values)}"
        raise ValidationError(message)


class BoundedList(fields.List[Any]):
    """A list that is refused for its length before its items are read, of which a body can hold half a million."""

    def __init__(self, *args: Any, most: Callable[[], int], **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(*args, **kwargs)
        self.most = most

    def _deserialize(self, value: object, *args: Any, **kwargs: Any) -> list[Any]:  # noqa: ANN401  as the base
        if isinstance(value, list):
            require_at_most(value, self.most())
        return super()._deserialize(value, *args, **kwargs)
