"""
Problems as RFC 9457 shows them: how each error is answered, and the handlers that use it.

The kinds of error have their statuses in `problem_catalogue/rows.py`. Nothing else of the service knows one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

import flask
import orjson
import structlog
from flask_smorest.error_handler import ErrorHandlerMixin
from marshmallow import INCLUDE, Schema, fields
from werkzeug.exceptions import HTTPException, InternalServerError

from jackpot_service.api.problem_catalogue import http
from jackpot_service.api.problem_catalogue.rows import RETRYABLE, Row, status_of, type_of
from jackpot_service.domain.errors import (
    BooksBroken,
    FieldError,
    LedgerError,
    LimitReached,
    Unauthenticated,
    Unavailable,
)

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"

_OF_PATHS: Final = "/:@!$&'()*+,;=~"
"""Signs that stay as they are in a path: `instance` is a reference (RFC 3986), and a path comes here decoded."""

_OF_STATUS: Final[Mapping[int, Row]] = {
    404: http.NOT_FOUND,
    405: http.METHOD_NOT_ALLOWED,
    413: http.BODY_TOO_LARGE,
    415: http.UNSUPPORTED_MEDIA_TYPE,
}
"""Problems of the errors that Flask raises; any other one of the caller's is a bad request."""


class ProblemSchema(Schema):
    """Problem details (RFC 9457), for documentation; a problem's facts are further members."""

    class Meta:  # noqa: D106  marshmallow's options
        unknown = INCLUDE

    type = fields.String(
        required=True, metadata={"description": "Where the service describes the code: `/problems/` and the code."}
    )
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True, metadata={"description": "The path that was asked."})
    code = fields.String(required=True, metadata={"description": "Stable; a program may rely on it."})
    retryable = fields.Boolean(required=True, metadata={"description": "Whether the same call may be sent again."})
    errors = fields.List(
        fields.Nested(
            Schema.from_dict(
                {
                    "pointer": fields.String(
                        required=True,
                        metadata={"description": "RFC 6901, into the body: empty for all of it, and for a parameter."},
                    ),
                    "parameter": fields.String(
                        metadata={
                            "description": "The name of what is wrong: a parameter of path or query, or a header."
                        }
                    ),
                    "code": fields.String(required=True),
                    "detail": fields.String(required=True),
                },
                name="FieldError",
            )
        )
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as it is answered, by Flask or by the fast path; its body is of `MEDIA_TYPE`."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def closing(self) -> "Problem":
        """Return it as an answer after which the connection is closed."""
        return self.having([(b"connection", b"close")])

    def having(self, headers: Iterable[tuple[bytes, bytes]]) -> "Problem":
        """Return it with further headers."""
        texts = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
        return replace(self, headers=(*self.headers, *texts))


def problem_of(error: Exception, *, instance: str) -> Problem:
    """Write the problem that an error is answered as; what nobody foresaw is logged, and answered without a word."""
    if isinstance(error, LedgerError):
        return _problem_of_ledger_error(error, instance)
    if isinstance(error, HTTPException):
        return _problem_of_http_exception(error, instance)
    return _problem_of_http_exception(InternalServerError(original_exception=error), instance)


def response_of(error: Exception) -> flask.Response:
    """Answer the request in hand by the problem of an error."""
    problem = problem_of(error, instance=flask.request.path)
    return flask.Response(problem.body, status=problem.status, headers=list(problem.headers), mimetype=MEDIA_TYPE)


class ProblemMixin(ErrorHandlerMixin):  # type: ignore[misc]
    """Gives flask-smorest our answer to HTTP errors, keeping headers such as Allow."""

    ERROR_SCHEMA = ProblemSchema

    def handle_http_exception(self, error: HTTPException) -> flask.Response:
        """Answer an HTTP error that Flask, werkzeug or webargs raised."""
        return response_of(error)


def _problem_of_ledger_error(error: LedgerError, instance: str) -> Problem:
    status = status_of(type(error))
    headers = []
    if isinstance(error, LimitReached | Unavailable):
        headers.append(("Retry-After", str(error.retry_after_s)))
    if isinstance(error, Unauthenticated):
        headers.append(("WWW-Authenticate", "Bearer"))
    if isinstance(error, BooksBroken):
        log.critical("books-broken", code=error.code, detail=error.detail)
    members = {"code": error.code, "title": error.title, "status": status, "retryable": status in RETRYABLE}
    return _problem(
        instance, members, detail=error.detail, field_errors=error.field_errors, facts=error.facts, headers=headers
    )


def _problem_of_http_exception(error: HTTPException, instance: str) -> Problem:
    row = getattr(error, "problem", None) or _row_of(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    if row is http.INTERNAL_ERROR:
        log.error("internal-error", exc_info=getattr(error, "original_exception", None) or error)
    return _problem(
        instance,
        {"code": row.code, "title": row.title, "status": row.status, "retryable": row.retryable},
        detail=_detail(error, row),
        field_errors=getattr(error, "problem_field_errors", ()),
        headers=error.get_headers(),
    )


def _detail(error: HTTPException, row: Row) -> str:
    """Return the service's own words for an error, or else the meaning of its code: not the framework's words."""
    stated = error.description
    return row.meaning if stated is None or stated == type(error).description else stated


def _row_of(status: int) -> Row:
    is_callers = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return _OF_STATUS.get(status, http.BAD_REQUEST if is_callers else http.INTERNAL_ERROR)


def _shown(error: FieldError) -> dict[str, str]:
    parameter = {} if error.parameter is None else {"parameter": error.parameter}
    return {"pointer": error.pointer, **parameter, "code": error.code, "detail": error.detail}


def _problem(
    instance: str,
    members: Mapping[str, Any],
    *,
    detail: str,
    field_errors: Iterable[FieldError] = (),
    facts: Mapping[str, Any] | None = None,
    headers: Iterable[tuple[str, str]] = (),
) -> Problem:
    """Write a problem of what the catalogue says; facts are further members, and never replace a standard one."""
    body: dict[str, Any] = {
        **(facts or {}),
        "type": type_of(members["code"]),
        **members,
        "detail": detail,
        "instance": quote(instance, safe=_OF_PATHS),
    }
    errors = [_shown(error) for error in field_errors]
    if errors:
        body["errors"] = errors
    other_headers = tuple(
        (name, value) for name, value in headers if name.lower() not in {"content-type", "content-length"}
    )
    return Problem(body["status"], other_headers, orjson.dumps(body))
