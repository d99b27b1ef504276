"""Lists on pages: the query in the address is read by the API's own schemas, and "next" leads to the next page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import flask
from marshmallow import Schema, ValidationError

from jackpot_service.usecases.payloads import field_errors_in


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query as somebody typed it, as its schema reads it, and the errors by field; with any, `values` is empty."""

    typed: Mapping[str, str]
    values: Mapping[str, Any]
    errors: Mapping[str, str]


def read_query(schema: Schema, typed: Mapping[str, str]) -> ReadQuery:
    """Read a query by a schema; a field that was left empty is as if it were not there."""
    stated = {name: value.strip() for name, value in typed.items() if value.strip()}
    try:
        return ReadQuery(stated, schema.load(stated), {})
    except ValidationError as error:
        errors = field_errors_in(error.messages, "")
        return ReadQuery(stated, {}, {each.pointer.lstrip("/"): each.detail for each in errors})


def address_with(typed: Mapping[str, str], **more: str | None) -> str:
    """Return the address of the page in hand with another query: the fields that were typed, and more."""
    stated = {**typed, **more}
    query = urlencode([(name, value) for name, value in stated.items() if value])
    return quote(flask.request.path) + (f"?{query}" if query else "")
