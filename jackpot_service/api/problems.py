"""
Problems as RFC 9457 shows them: the one table from kinds of error to statuses, and the handlers that use it.

Nothing else of the service knows a status code of an error.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import flask
import orjson
import structlog
from flask_smorest.error_handler import ErrorHandlerMixin
from marshmallow import INCLUDE, Schema, fields
from werkzeug.exceptions import HTTPException

from jackpot_service import counters
from jackpot_service.domain.errors import (
    BooksBroken,
    Conflict,
    Flaw,
    Forbidden,
    LedgerError,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
)
from jackpot_service.seldom import Seldom

log = structlog.get_logger()

_seldom = Seldom()

MEDIA_TYPE = "application/problem+json"

STATUS_OF_KIND: Mapping[type[LedgerError], int] = {
    Refused: 422,
    Conflict: 409,
    NotFound: 404,
    Forbidden: 403,
    Unauthenticated: 401,
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
    """Problem details (RFC 9457), for documentation; a problem's facts stand beside these members."""

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
                name="Flaw",
            )
        )
    )


def problem(
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    flaws: Iterable[Flaw] = (),
    facts: Mapping[str, Any] | None = None,
    headers: Iterable[tuple[str, str]] = (),
) -> flask.Response:
    """Make the response; facts stand beside the standard members and never replace one."""
    body: dict[str, Any] = {
        **(facts or {}),
        "type": f"urn:jackpot:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": flask.request.path,
        "code": code,
        "retryable": status in {429, 503},
    }
    errors = [{"pointer": flaw.pointer, "code": flaw.code, "detail": flaw.detail} for flaw in flaws]
    if errors:
        body["errors"] = errors
    response = flask.Response(orjson.dumps(body), status=status, mimetype=MEDIA_TYPE)
    for name, value in headers:
        if name.lower() not in {"content-type", "content-length"}:
            response.headers[name] = value
    return response


def of_ledger_error(error: LedgerError) -> flask.Response:
    """Answer what the ledger said."""
    status = next(status for kind, status in STATUS_OF_KIND.items() if isinstance(error, kind))
    headers = []
    if isinstance(error, Unavailable):
        headers.append(("Retry-After", str(RETRY_AFTER_S)))
    if isinstance(error, Unauthenticated):
        headers.append(("WWW-Authenticate", "Bearer"))
        counters.count(counters.SIGN_INS_REFUSED)
        _seldom.warning("sign-in-refused", about=flask.request.remote_addr, address=flask.request.remote_addr)
    if isinstance(error, BooksBroken):
        log.critical("books-broken", code=error.code, detail=error.detail)
    return problem(
        status=status,
        code=error.code,
        title=error.title,
        detail=error.detail,
        flaws=error.flaws,
        facts=error.facts,
        headers=headers,
    )


class ProblemMixin(ErrorHandlerMixin):  # type: ignore[misc]
    """Gives flask-smorest our answer to HTTP errors, keeping headers such as Allow."""

    ERROR_SCHEMA = ProblemSchema

    def handle_http_exception(self, error: HTTPException) -> flask.Response:
        """Answer an HTTP error that Flask, werkzeug or webargs raised."""
        status = error.code or 500
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("internal-error", exc_info=getattr(error, "original_exception", None) or error)
        detail = getattr(error, "problem_detail", None) or error.description or error.name
        return problem(
            status=status,
            code=getattr(error, "problem_code", None) or HTTP_CODES.get(status, "http-error"),
            title=error.name,
            detail=detail,
            flaws=getattr(error, "problem_flaws", ()),
            headers=error.get_headers(),
        )
