"""
Lists: `{"items": [], "next": cursor}`, asked with `limit` and `after`; cursors are opaque to the caller.

A cursor is a place in a list and a checksum over the place, the list and its filters. The checksum is no secret: what a
key sees is asked of the key on every page. It finds what was cut or mistyped, and what belongs to another list. Filters
at their default are left out of it, so that a cursor outlives an upgrade that adds filters.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

import flask
import orjson
from marshmallow import Schema, ValidationError, fields, post_load, validates_schema

from jackpot_service.api.request_context import look
from jackpot_service.api.schemas import AnswerSchema, RequestSchema
from jackpot_service.database.transactions import Session
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.usecases.fields import Instant, QueryNumber, ReadField

MOST_LISTED = 200
DEFAULT_LISTED = 50

LARGEST_KEY = 2**63 - 1

LIST: Final = "_list"
"""Under which a query that was read holds its list and filters, as cursors are made of them."""

_NO_CURSOR: Final = (
    "must be the `next` of a page of this list, unchanged, with the same filters; leave it out for the first page"
)
_CHECKSUM: Final = 6

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
    return {
        "items": rows[:limit],
        "next": with_checksum(cursor_of(rows[limit - 1]), query[LIST]) if len(rows) > limit else None,
    }


def with_checksum(place: str, of: str) -> str:
    """Write a place in a list, as text, as a cursor of this list."""
    checksum = hashlib.sha256(f"{of}\n{place}".encode()).digest()[:_CHECKSUM]
    return f"{place}~{checksum.hex()}"


def without_checksum(text: str, of: str) -> str | None:
    """Read the place in a cursor of a list; None if it is no cursor of this list."""
    place, _, _ = text.rpartition("~")
    return place if text.isascii() and with_checksum(place, of) == text else None


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


class Cursor(ReadField[tuple[str, Any]]):
    """Where a list goes on: the `next` of the page before, whose place a function reads, or None."""

    described: ClassVar = {
        "type": "string",
        "description": "The `next` of the page before, unchanged, with the same filters; any other is refused.",
    }

    def __init__(self, read_text: Callable[[str], Any] = key_in) -> None:
        super().__init__(load_default=None)
        self._read_text = read_text

    def read(self, value: object) -> tuple[str, Any]:
        """Read a cursor, and the place in it; whether it is of this list is not known yet. Raises: ValidationError."""
        decoded = self._read_text(value.rpartition("~")[0]) if isinstance(value, str) else None
        if not isinstance(value, str) or decoded is None:
            raise ValidationError(_NO_CURSOR)
        return value, decoded


class ContinuedSchema(RequestSchema):
    """From where a list goes on. `list_name` is set where several addresses lead on to the same list."""

    list_name: ClassVar[str | None] = None

    after = Cursor()

    @post_load
    def _open_cursor(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """Replace the cursor by the place in it. Raises: ValidationError if it is of another list."""
        name = self.list_name or (flask.request.endpoint, flask.request.view_args)
        of = orjson.dumps([name, self._filters(query)], default=_written, option=orjson.OPT_SORT_KEYS).decode()
        text, place = query["after"] or (None, None)
        if text is not None and without_checksum(text, of) is None:
            raise ValidationError(_NO_CURSOR, "after")
        return {**query, "after": place, LIST: of}

    def _filters(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return the filters that are not at their default; how much of a list, and from where, filters nothing."""
        filters = {}
        for name, value in query.items():
            default = self.fields[name].load_default
            if name not in {"after", "limit"} and value != (default() if callable(default) else default):
                filters[name] = value
        return filters


def _written(value: object) -> object:
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


class ListQuerySchema(ContinuedSchema):
    """How much of a list, and from where."""

    limit = QueryNumber(1, MOST_LISTED, load_default=DEFAULT_LISTED)


class PeriodQuerySchema(ListQuerySchema):
    """How much of a list, from where, and of which period: its beginning is included, its end is not."""

    start = Instant(data_key="from", load_default=None)
    end = Instant(data_key="to", load_default=None)

    @validates_schema(skip_on_field_errors=True)
    def _require_order(self, query: Mapping[str, Any], **_: object) -> None:
        if query["start"] is not None and query["end"] is not None and query["end"] < query["start"]:
            message = "lies before `from`"
            raise ValidationError(message, field_name="to")
