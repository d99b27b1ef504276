"""
Field types that take exactly what the contract says, and nothing that only looks like it.

marshmallow's own integers take 5.7 and "5", its decimals round; these refuse.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, ClassVar, TypeVar

from marshmallow import ValidationError, fields

from jackpot_service.domain.shapes import (
    CURRENCY,
    CURRENCY_PATTERN,
    DAY,
    IDENTIFIER,
    IDENTIFIER_PATTERN,
    INSTANT,
    LARGEST_MINOR,
)

LONGEST_TEXT = 500

T = TypeVar("T")


class ReadField(fields.Field[T]):
    """
    A field that one method reads, whatever it is called or stands in.

    `described` is what the OpenAPI description says of it.
    """

    described: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(metadata={**self.described, **(metadata or {})}, **kwargs)

    def read(self, value: object) -> T:
        """Turn the raw value into what it means. Raises: ValidationError."""
        raise NotImplementedError

    def _deserialize(self, value: object, *_: object, **__: object) -> T:
        return self.read(value)


def identifier(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and IDENTIFIER.fullmatch(value):
        return value
    message = f"must be a string that matches {IDENTIFIER_PATTERN}"
    raise ValidationError(message)


def currency_code(value: object) -> str:
    """Raises: ValidationError."""
    if type(value) is str and CURRENCY.fullmatch(value):
        return value
    message = "must be a currency's three capital letters"
    raise ValidationError(message)


def stake(value: object) -> int:
    """Raises: ValidationError."""
    if type(value) is int and 0 < value <= LARGEST_MINOR:
        return value
    message = f"must be a whole number of minor units from 1 to {LARGEST_MINOR}"
    raise ValidationError(message)


def instant(value: object) -> datetime:
    """Raises: ValidationError."""
    if type(value) is str and INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    message = "must be a time by RFC 3339, such as 2026-11-20T09:30:00Z"
    raise ValidationError(message)


def instant_or_day(value: object) -> datetime | date:
    """Raises: ValidationError."""
    if type(value) is not str or not DAY.fullmatch(value):
        return instant(value)
    try:
        return date.fromisoformat(value)
    except ValueError:
        message = "must be a day that there is, such as 2026-11-20"
        raise ValidationError(message) from None


class Identifier(ReadField[str]):
    """An id of the caller's."""

    described: ClassVar = {"type": "string", "pattern": IDENTIFIER_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return identifier(value)


class CurrencyCode(ReadField[str]):
    """A currency's three capital letters."""

    described: ClassVar = {"type": "string", "pattern": CURRENCY_PATTERN}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        return currency_code(value)


class Whole(ReadField[int]):
    """A whole number, written as one: no 1.0, no 1e2, no "5", no true."""

    def __init__(self, *, most: int, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(metadata={"type": "integer", "minimum": 0, "maximum": most, **(metadata or {})}, **kwargs)
        self.most = most

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if type(value) is int and 0 <= value <= self.most:
            return value
        message = f"must be a whole number from 0 to {self.most}"
        raise ValidationError(message)


class QueryNumber(ReadField[int]):
    """A whole number of a query, within bounds."""

    def __init__(self, least: int, most: int, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(metadata={"type": "integer", "minimum": least, "maximum": most}, **kwargs)
        self.least, self.most = least, most

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value) and self.least <= int(value) <= self.most:
            return int(value)
        message = f"must be a whole number from {self.least} to {self.most}"
        raise ValidationError(message)


class Text(ReadField[str]):
    """A line of text for people: 1 to 500 characters, none of them a control character."""

    described: ClassVar = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        if type(value) is str and 1 <= len(value) <= LONGEST_TEXT and value.isprintable() and value.strip():
            return value
        message = f"must be a text of 1 to {LONGEST_TEXT} printable characters"
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

    def read(self, value: object) -> bool:
        """Raises: ValidationError."""
        if type(value) is bool:
            return value
        message = "must be true or false"
        raise ValidationError(message)


class JsonObject(ReadField[dict[str, Any]]):
    """An object whose fields somebody else reads."""

    described: ClassVar = {"type": "object"}

    def read(self, value: object) -> dict[str, Any]:
        """Raises: ValidationError."""
        if isinstance(value, dict):
            return value
        message = "must be an object"
        raise ValidationError(message)


class Instant(ReadField[datetime]):
    """A time by RFC 3339, turned to UTC."""

    described: ClassVar = {"type": "string", "format": "date-time"}

    def read(self, value: object) -> datetime:
        """Raises: ValidationError."""
        return instant(value)


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
