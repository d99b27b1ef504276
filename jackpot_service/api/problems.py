"""
Problems as RFC 9457 shows them: the one table from kinds of error to statuses, and the handlers that use it.

Nothing else of the service knows a status code of an error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import flask
import orjson
import structlog
from flask_smorest.error_handler import ErrorHandlerMixin
from marshmallow import INCLUDE, Schema, fields
from werkzeug.exceptions import HTTPException, InternalServerError

from jackpot_service.domain.errors import (
    BooksBroken,
    Conflict,
    FieldError,
    Forbidden,
    LedgerError,
    LimitReached,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
)

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"

STATUS_OF_KIND: Mapping[type[LedgerError], int] = {
    Refused: 422,
    Conflict: 409,
    NotFound: 404,
    Forbidden: 403,
    Unauthenticated: 401,
    LimitReached: 429,
    Unavailable: 503,
    BooksBroken: 500,
}

RETRY_AFTER_S = 1

HTTP_CODES = {
    400: "not-json",
    404: "not-found",
    405: "method-not-allowed",
    413: "body-too-large",
    415: "unsupported-media-type",
    422: "validation",
    429: "too-many-requests",
    500: "internal-error",
    503: "unavailable",
}


class ProblemSchema(Schema):
    """Problem details (RFC 9457), for documentation; a problem's facts are further members."""

    class Meta:  # noqa: D106  marshmallow's options
        unknown = INCLUDE

    type = fields.String(required=True, metadata={"description": "`urn:jackpot:problem:` and the code."})
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
                    "pointer": fields.String(required=True, metadata={"description": "RFC 6901, into the body."}),
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
        return replace(self, headers=(*self.headers, ("Connection", "close")))


def problem_of(error: Exception, *, instance: str) -> Problem:
    """Write the problem that an error is answered as; what nobody foresaw is logged, and answered without a word."""
    if isinstance(error, LedgerError):
        return _of_ledger_error(error, instance)
    if isinstance(error, HTTPException):
        return _of_http_exception(error, instance)
    return _of_http_exception(InternalServerError(original_exception=error), instance)


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


def _of_ledger_error(error: LedgerError, instance: str) -> Problem:
    status = next(status for kind, status in STATUS_OF_KIND.items() if isinstance(error, kind))
    headers = []
    if isinstance(error, LimitReached):
        headers.append(("Retry-After", str(error.retry_after_s)))
    if isinstance(error, Unavailable):
        headers.append(("Retry-After", str(RETRY_AFTER_S)))
    if isinstance(error, Unauthenticated):
        headers.append(("WWW-Authenticate", "Bearer"))
    if isinstance(error, BooksBroken):
        log.critical("books-broken", code=error.code, detail=error.detail)
    return _problem(
        instance,
        status=status,
        code=error.code,
        title=error.title,
        detail=error.detail,
        field_errors=error.field_errors,
        facts=error.facts,
        headers=headers,
    )


def _of_http_exception(error: HTTPException, instance: str) -> Problem:
    status = error.code or 500
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("internal-error", exc_info=getattr(error, "original_exception", None) or error)
    detail = getattr(error, "problem_detail", None) or error.description or error.name
    return _problem(
        instance,
        status=status,
        code=getattr(error, "problem_code", None) or HTTP_CODES.get(status, "http-error"),
        title=error.name,
        detail=detail,
        field_errors=getattr(error, "problem_field_errors", ()),
        headers=error.get_headers(),
    )


def _problem(
    instance: str,
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    field_errors: Iterable[FieldError] = (),
    facts: Mapping[str, Any] | None = None,
    headers: Iterable[tuple[str, str]] = (),
) -> Problem:
    """Write a problem; facts are further members, and never replace a standard one."""
    body: dict[str, Any] = {
        **(facts or {}),
        "type": f"urn:jackpot:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": instance,
        "code": code,
        "retryable": status in {429, 503},
    }
    errors = [{"pointer": error.pointer, "code": error.code, "detail": error.detail} for error in field_errors]
    if errors:
        body["errors"] = errors
    kept = tuple((name, value) for name, value in headers if name.lower() not in {"content-type", "content-length"})
    return Problem(status, kept, orjson.dumps(body))
