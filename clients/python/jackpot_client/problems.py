"""Problems (RFC 9457): read from answers, and divided by what may be done next."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import httpx

from jackpot_client.errors import FieldError, Problem, ProtocolError
from jackpot_client.reading import member, read
from jackpot_client.steps import Received

MEDIA_TYPE: Final = "application/problem+json"

_NAMED_MEMBERS: Final = {"type", "title", "status", "detail", "instance", "code", "retryable", "errors"}

_NOTHING_WAS_DONE: Final = frozenset({"busy", "clock-skew", "issuer-unavailable", "request-timeout"})
"""Codes by which the service states that it did nothing; after any other failure a write may have been booked."""

_IN_VAIN: Final = frozenset({"history-took-too-long", "report-took-too-long"})
"""Codes of a 503 that comes again: not the moment is wrong, but the question."""

_NEVER_AGAIN: Final = frozenset({HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED})


def problem_in(answer: Received) -> Problem:
    """Return the problem that an answer states. Raises: ProtocolError if it states none that this client can read."""
    if answer.media_type != MEDIA_TYPE:
        raise ProtocolError(
            f"status {answer.status} with {answer.media_type or 'no type'}: {answer.body[:100]!r}; this is no answer "
            "of the jackpot ledger: another program or a proxy may have given it"
        )
    content = read(answer.body)
    return Problem(
        status=answer.status,
        code=member(content, "code", str),
        title=member(content, "title", str),
        detail=member(content, "detail", str),
        retryable=member(content, "retryable", bool),
        errors=member(content, "errors", tuple[FieldError, ...]) if "errors" in content else (),
        facts={name: value for name, value in content.items() if name not in _NAMED_MEMBERS},
        retry_after=retry_after(answer.headers),
        request_id=answer.headers.get("X-Request-Id"),
    )


def problem_perhaps_in(answer: Received) -> Problem | None:
    """Return the problem of an answer that is repeated anyway; None for a proxy's page and the like."""
    try:
        return problem_in(answer)
    except ProtocolError:
        return None


def is_definite(answer: Received, problem: Problem | None) -> bool:
    """Return whether an answer ends its call; the call is sent again after any other."""
    if problem is not None and problem.code in _IN_VAIN:
        return True
    if problem is not None and problem.retryable:
        return False
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return False
    return answer.status < HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in _NEVER_AGAIN


def may_have_had_effect(answer: Received, problem: Problem | None) -> bool:
    """Return whether a write may have been booked although it was answered so."""
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return False
    return problem is None or problem.code not in _NOTHING_WAS_DONE


def retry_after(headers: httpx.Headers) -> float:
    """Return the wait the service asks for in seconds: a number or a date; 0 for none and for nonsense."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
