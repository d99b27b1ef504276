"""
Reading requests: JSON by orjson, only as JSON, no key twice; and field errors with pointers instead of nested messages.

The default parser of webargs answers 500 to 100,000 nested brackets and to integers of 5,000 digits.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NoReturn

import flask
import marshmallow
import orjson
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnprocessableEntity, UnsupportedMediaType

from jackpot_service.api.problem_catalogue import http
from jackpot_service.domain.errors import FieldError, in_order
from jackpot_service.usecases.fields import IS_UNKNOWN
from jackpot_service.usecases.payloads import field_errors_in

MEDIA_TYPES = frozenset({"application/json"})

MOST_ERRORS = 1000
"""How many field errors a problem holds; a body of nonsense has hundreds of thousands. A schema may set more."""

MOST_SAID = 3
"""How many field errors the sentence of a problem names; its `errors` hold more."""


TAKES_NO_QUERY = f"{IS_UNKNOWN}; this call takes no query"


class NotJson(BadRequest):
    """The body is no JSON."""

    problem = http.NOT_JSON


class DuplicateMember(BadRequest):
    """An object of the body names a member twice, so two readers could see two contents."""

    problem = http.DUPLICATE_MEMBER


class Invalid(UnprocessableEntity):
    """
    The path, the query or the body does not have the shape that the contract says.

    `valid_data` are the fields that are right, as they were read.
    """

    problem = http.VALIDATION

    def __init__(self, field_errors: tuple[FieldError, ...], valid_data: object = None) -> None:
        self.valid_data = valid_data
        listed = "; ".join(map(_stated, field_errors[:MOST_SAID]))
        super().__init__(f"{listed}{' …' if len(field_errors) > MOST_SAID else ''}.")
        self.problem_field_errors = field_errors


def _stated(error: FieldError) -> str:
    """Write an error into a sentence; what is not of the shape is a sentence of its own."""
    colon = "" if error.code == http.VALIDATION.code else ":"
    return f"{error.place}{colon} {error.detail.rstrip('.')}"


class Parser(FlaskParser):
    """webargs with our JSON and our errors; what a schema does not name is refused, in bodies and in queries."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {"json": marshmallow.RAISE, "query": marshmallow.RAISE}  # noqa: RUF012  webargs declares it so

    def _raw_load_json(self, req: flask.Request) -> Any:  # noqa: ANN401  any JSON
        if req.mimetype not in MEDIA_TYPES or req.headers.get("Content-Encoding", "identity") != "identity":
            message = "Send the body as application/json, without a Content-Encoding."
            raise UnsupportedMediaType(message)
        body = req.get_data(cache=False)
        # One byte more than allowed is read: a body of unstated length is otherwise cut there without a word.
        if req.max_content_length is not None and len(body) >= req.max_content_length:
            raise RequestEntityTooLarge
        return read_json(body)

    def load_querystring(self, req: flask.Request, schema: marshmallow.Schema) -> Any:  # noqa: ANN401  as the base
        """Read a query in which no name stands twice: two readers could see two calls. Raises: Invalid."""
        twice = [name for name, values in req.args.lists() if len(values) > 1]
        if twice:
            message = "stands twice; state it once"
            raise Invalid(tuple(error_of_parameter(name, message) for name in twice[:MOST_ERRORS]))
        return super().load_querystring(req, schema)

    def handle_error(
        self,
        error: marshmallow.ValidationError,
        req: flask.Request,  # noqa: ARG002  as the base
        schema: marshmallow.Schema,
        **_: object,
    ) -> NoReturn:
        """Turn marshmallow's nested messages into field errors with pointers."""
        messages = error.messages
        location = next(iter(messages), "json") if isinstance(messages, Mapping) else "json"
        error.messages = messages[location] if isinstance(messages, Mapping) else messages
        invalid = invalid_by(error, most=getattr(schema, "most_errors", MOST_ERRORS))
        if location == "query":
            invalid = Invalid(tuple(_in_query_of(schema, error) for error in invalid.problem_field_errors))
        raise invalid from None


def read_query(schema: marshmallow.Schema, query: bytes) -> Any:  # noqa: ANN401  what the schema loads
    """Read a query where no request of Flask is there, as Flask would. Raises: Invalid."""
    return _PARSER.parse(schema, flask.Request({"QUERY_STRING": query.decode("latin-1")}), location="query")


_PARSER: Final = Parser()


def invalid_by(error: marshmallow.ValidationError, *, most: int = MOST_ERRORS) -> Invalid:
    """Make the error of a body about which marshmallow has something to say, with `most` field errors at most."""
    field_errors = islice(field_errors_in(error.messages, "", code=Invalid.problem.code), most)
    return Invalid(in_order(field_errors), error.valid_data)


def refuse_query(names: Iterable[str]) -> None:
    """Refuse a query of a call that takes none. Raises: Invalid."""
    field_errors = [error_of_parameter(name, TAKES_NO_QUERY) for name in islice(names, MOST_ERRORS)]
    raise Invalid(tuple(field_errors) or (error_of_parameter("", "must be empty"),))


def error_of_parameter(name: str, detail: str) -> FieldError:
    """Make the field error of a parameter of the path or the query, or of a header."""
    return FieldError("", Invalid.problem.code, detail, parameter=name)


def _in_query_of(schema: marshmallow.Schema, error: FieldError) -> FieldError:
    """Turn a field error into one of the query, which names what the call takes where a name is unknown."""
    error = in_query(error)
    if error.detail != IS_UNKNOWN:
        return error
    names = sorted(field.data_key or name for name, field in schema.load_fields.items())
    return replace(error, detail=f"{IS_UNKNOWN}; this call takes {', '.join(names)}")


def in_query(error: FieldError) -> FieldError:
    """Turn an error that points at a field into one of the query's parameter of that name."""
    name = error.pointer.removeprefix("/").partition("/")[0]
    return replace(error, pointer="", parameter=name.replace("~1", "/").replace("~0", "~"))


def read_json(body: bytes) -> Any:  # noqa: ANN401  any JSON
    """Read a JSON text exactly. Raises: NotJson; DuplicateMember."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        message = f"The body is not JSON: {error}."
        raise NotJson(message) from None
    # Integers and strings are never written longer than they were read. So a body that is as long when written again
    # lost no key; one with other numbers is refused later. With white space in it, as many colons as keys say the same.
    # Only then does the slow reader look.
    if not _is_as_long_again(document, body) and body.count(b":") != _count_keys(document):
        _require_keys_once(body)
    return document


def _is_as_long_again(document: Any, body: bytes) -> bool:  # noqa: ANN401  any JSON
    try:
        return len(orjson.dumps(document)) == len(body)
    except orjson.JSONEncodeError:  # It reads deeper nesting than it writes.
        return False


def _count_keys(document: Any) -> int:  # noqa: ANN401  any JSON
    count = 0
    to_count = [document]
    while to_count:
        value = to_count.pop()
        if type(value) is dict:
            count += len(value)
            value = value.values()
        elif type(value) is not list:
            continue
        to_count += [inner for inner in value if type(inner) is dict or type(inner) is list]
    return count


def _require_keys_once(body: bytes) -> None:
    try:
        json.loads(body, object_pairs_hook=_pairs, parse_int=str, parse_float=str)
    except RecursionError:
        message = "The body is nested too deeply."
        raise NotJson(message) from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        message = f"The body names {', '.join(map(repr, twice[:MOST_SAID]))} twice in one object."
        raise DuplicateMember(message)
    return document
