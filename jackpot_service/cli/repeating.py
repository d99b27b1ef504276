"""Which calls are sent again, when, and what is said of an act whose answer was lost."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx

PATIENCE_S: Final = 20.0
"""For so long a call is sent again that the service could not take."""

FIRST_PAUSE_S: Final = 0.5

AGAIN: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})

GATEWAY: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
"""The statuses of a proxy that sent a call on and got no answer."""

PROBLEM: Final = "application/problem+json"

UNKNOWN: Final = "outcome-unknown"
"""The code of an act of which the service itself does not know whether it was done."""

NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol)

Outcome = httpx.Response | httpx.RequestError
"""An answer, or why there is none."""


def is_over(outcome: Outcome) -> bool:
    """Whether to send the call again would change nothing: it was answered, or nobody is there."""
    if isinstance(outcome, httpx.RequestError):
        return isinstance(outcome, NOT_SENT)
    return outcome.status_code not in AGAIN and not is_of_gateway(outcome)


def is_of_gateway(answer: httpx.Response) -> bool:
    """Whether a proxy answered that got no answer of the service."""
    return answer.status_code in GATEWAY and media_type(answer) != PROBLEM


def media_type(answer: httpx.Response) -> str:
    """Return the type of the body, without its parameters."""
    stated: str = answer.headers.get("Content-Type", "")
    return stated.partition(";")[0].strip()


def is_lost(outcome: Outcome) -> bool:
    """Whether an act may have been done, as far as this shows."""
    if isinstance(outcome, httpx.RequestError):
        return not isinstance(outcome, NOT_SENT)
    if outcome.is_server_error and media_type(outcome) != PROBLEM:
        return True  # Not the service's own words: a proxy may have sent the call on.
    return outcome.status_code in AGAIN and f'"{UNKNOWN}"' in outcome.text


def pause_after(outcome: Outcome, otherwise: float) -> float:
    """Return for how many seconds to wait: as long as the answer asks for, at least `otherwise`."""
    stated = outcome.headers.get("Retry-After", "") if isinstance(outcome, httpx.Response) else ""
    return max(float(stated), otherwise) if stated.isascii() and stated.isdigit() else otherwise


def perhaps_done(request: httpx.Request, body: Mapping[str, Any] | None) -> str:
    """Say that an act may have been done, and how to make sure; nothing of a call that only looks."""
    if request.method == "GET" or "dry_run" in request.url.params:
        return ""
    request_id = (body or {}).get("request_id")
    how = "look at its state, then repeat it" if request_id is None else f"repeat it with --request-id {request_id}"
    return f"It may have been done: {how}."


def named(error: httpx.RequestError) -> str:
    """Name what went wrong."""
    return str(error) or type(error).__name__
