"""Lists: `{"items": [], "next": cursor}`, asked with `limit` and `after`; cursors are opaque to the caller."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from marshmallow import Schema, ValidationError, fields, validates_schema

from jackpot_service.api.request_context import look
from jackpot_service.api.schemas import AnswerSchema, RequestSchema
from jackpot_service.database.transactions import Session
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.usecases.fields import Instant, QueryNumber, ReadField

MOST_LISTED = 200
DEFAULT_LISTED = 50

LARGEST_KEY = 2**63 - 1

T = TypeVar("T")


def page(
    query: Mapping[str, Any],
    rows_of: Callable[[Session, int], Sequence[T]],
    cursor_of: Callable[[T], str],
    *,
    read: Callable[[Callable[[Session], Sequence[T]]], Sequence[T]] = look,
) -> Mapping[str, Any]:
    """Read a page of a list, and one row more: only if there is one, the list goes on after the page's last."""
    limit = query["limit"]
    rows = read(lambda session: rows_of(session, limit + 1))
    return {"items": rows[:limit], "next": cursor_of(rows[limit - 1]) if len(rows) > limit else None}


def page_schema(item: type[Schema], name: str) -> Schema:
    """Return the schema of a page of a list; the description knows it by its name."""
    members = {
        "items": fields.List(fields.Nested(item()), required=True),
        "next": fields.String(required=True, allow_none=True),
    }
    schema: Schema = type(name, (AnswerSchema,), members)()
    return schema


def cursor(key: int) -> str:
    """Write where a list goes on that is ordered by a number."""
    return f"k{key:x}"


def key_in(text: str) -> int | None:
    """Read the number in a cursor; None if there is none."""
    match = re.fullmatch(r"k([0-9a-f]{1,16})", text)
    return int(match[1], 16) if match and int(match[1], 16) <= LARGEST_KEY else None


def cursor_at(key: int, identifier: str) -> str:
    """Write where a list goes on that is ordered by a number, and then by an id."""
    return f"{cursor(key)}.{identifier}"


def place_in(text: str) -> tuple[int, str] | None:
    """Read the number and the id in a cursor; None if they are not there."""
    written, _, identifier = text.partition(".")
    key = key_in(written)
    return None if key is None or not IDENTIFIER.fullmatch(identifier) else (key, identifier)


def matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    """Return what reads cursors that are ids themselves."""
    return lambda text: text if pattern.fullmatch(text) else None


class Cursor(ReadField[Any]):
    """Where a list goes on: the `next` of the page before, as a function reads it, or None."""

    described: ClassVar = {"type": "string"}

    def __init__(self, read_text: Callable[[str], Any] = key_in) -> None:
        super().__init__(load_default=None)
        self._read_text = read_text

    def read(self, value: object) -> Any:  # noqa: ANN401  as the function
        """Raises: ValidationError."""
        decoded = self._read_text(value) if isinstance(value, str) else None
        if decoded is None:
            message = "must be the `next` of a page of this list"
            raise ValidationError(message)
        return decoded


class ListQuerySchema(RequestSchema):
    """How much of a list, and from where."""

    limit = QueryNumber(1, MOST_LISTED, load_default=DEFAULT_LISTED)
    after = Cursor()


class PeriodQuerySchema(ListQuerySchema):
    """How much of a list, from where, and of which period: its beginning is included, its end is not."""

    start = Instant(data_key="from", load_default=None)
    end = Instant(data_key="to", load_default=None)

    @validates_schema(skip_on_field_errors=True)
    def _require_order(self, query: Mapping[str, Any], **_: object) -> None:
        if query["start"] is not None and query["end"] is not None and query["end"] < query["start"]:
            message = "lies before `from`"
            raise ValidationError(message, field_name="to")
