"""Lists: `{"items": [], "next": cursor}`, asked with `limit` and `after`; cursors are opaque to the caller."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from jackpot_service.api.schemas import RequestSchema
from jackpot_service.usecases.fields import Instant, ReadField

MOST_LISTED = 200
DEFAULT_LISTED = 50

_CURSOR = re.compile(r"k([0-9a-f]{1,16})")


class Limit(ReadField[int]):
    """How many items at most, from the query."""

    described: ClassVar = {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,6}", value) and 1 <= int(value) <= MOST_LISTED:
            return int(value)
        message = f"must be a whole number from 1 to {MOST_LISTED}"
        raise ValidationError(message)


class Cursor(ReadField[int]):
    """Where a list goes on: what `next` of the page before said."""

    described: ClassVar = {"type": "string"}

    def read(self, value: object) -> int:
        """Raises: ValidationError."""
        found = _CURSOR.fullmatch(value) if isinstance(value, str) else None
        if found and int(found[1], 16) < 2**63:
            return int(found[1], 16)
        message = "must be the `next` of a page of this list"
        raise ValidationError(message)


class ListQuerySchema(RequestSchema):
    """How much of a list, and from where."""

    limit = Limit(load_default=DEFAULT_LISTED)
    after: ReadField[Any] = Cursor(load_default=None)


class PeriodQuerySchema(ListQuerySchema):
    """How much of a list, from where, and of which period: its beginning is included, its end is not."""

    start = Instant(data_key="from", load_default=None)
    end = Instant(data_key="to", load_default=None)

    @validates_schema(skip_on_field_errors=True)
    def _require_order(self, query: Mapping[str, Any], **_: object) -> None:
        if query["start"] is not None and query["end"] is not None and query["end"] < query["start"]:
            message = "lies before `from`"
            raise ValidationError(message, field_name="to")


def cursor(key: int | None) -> str | None:
    """Write a cursor; None ends the list."""
    return None if key is None else f"k{key:x}"
