"""Lists on pages: the query in the address is read by the API's own schemas, and "next" leads to the next page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import flask
from marshmallow import Schema, ValidationError

from jackpot_service.pages.figures import label
from jackpot_service.pages.form_errors import errors_in, in_words
from jackpot_service.usecases.readers import A_DAY, instant_or_day


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
        return ReadQuery(stated, {}, {name.lstrip("/"): detail for name, detail in errors_in(error).items()})


def read_place(schema: Schema, *names: str) -> ReadQuery:
    """Read where a list begins, and fields of these names; an address that nobody was given is the first page's."""
    args = flask.request.args
    query = read_query(schema, {name: args.get(name, "") for name in (*names, "after")})
    return read_query(schema, {}) if query.errors else query


def any_of(words: Iterable[str]) -> Sequence[tuple[str, str]]:
    """Return the choices of a filter as pairs of a value and what it says: none first, then words of the contract."""
    return [("", "any"), *((word, label(word)) for word in words)]


def days_to_instants(fields: dict[str, str]) -> dict[str, str]:
    """Turn the days of `from` and `to` into instants, in place: the last day is a whole one. Returns errors by name."""
    errors: dict[str, str] = {}
    for name, days in (("from", 0), ("to", 1)):
        if fields.get(name):
            try:
                fields[name] = _instant(fields[name], days)
            except ValidationError as error:
                errors[name] = " ".join(in_words(str(message)) for message in error.messages)
                del fields[name]
    return errors


def _instant(typed: str, days: int) -> str:
    """Turn a day into its beginning in UTC, so many days later; an instant stays. Raises: ValidationError."""
    read = instant_or_day(typed)
    if hasattr(read, "hour"):
        return typed
    try:
        return f"{(read + timedelta(days=days)).isoformat()}T00:00:00Z"
    except OverflowError:
        message = f"lies after the last day that there is; {A_DAY}"
        raise ValidationError(message) from None


def address_with(typed: Mapping[str, str], **more: str | None) -> str:
    """Return the address of the page in hand with another query: the fields that were typed, and more."""
    stated = {**typed, **more}
    query = urlencode([(name, value) for name, value in stated.items() if value])
    return quote(flask.request.path) + (f"?{query}" if query else "")
