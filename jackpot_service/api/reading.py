"""
Where a call reads, how old its answer may be, and how its caller reads what was written before.

A view reads at the replica if it is marked so, as lists and reports are, or is a page. It does so only while it answers
a GET in which nothing was written. Keys, sessions and rights are looked up elsewhere, by the primary's engine.
"""

import re
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import flask
import psycopg
import sqlalchemy
import structlog
from sqlalchemy.exc import SQLAlchemyError

from jackpot_service.api.parsing import Invalid, error_of_parameter
from jackpot_service.auth.authenticator import is_page
from jackpot_service.database.reads import Reads, ReplicaBrokeOff
from jackpot_service.database.replica import log_position, seconds_since
from jackpot_service.domain.errors import Unavailable

AGE: Final = "Replica-Age"
POSITION: Final = "Log-Position"
WANTS_POSITION: Final = "Want-Log-Position"

POSITION_COOKIE: Final = "jackpot-log-position"
"""The cookie by which a browser says how far the log went after its last form."""

BEYOND_ALL: Final = "f" * 16
"""A position after all that any log has."""

_TOKEN: Final = re.compile(r"[0-9a-f]{1,16}")
_SAFE: Final = frozenset({"GET", "HEAD"})

View = TypeVar("View", bound=Callable[..., Any])

log = structlog.get_logger()


def at_replica(view: View) -> View:
    """State that a view reads at the replica, if there is one, as far as its caller must read."""
    view.is_at_replica = True  # type: ignore[attr-defined]
    return view


def with_all(view: View) -> View:
    """State that a view shows what the process reads at the replica for all its callers together."""
    view.is_with_all = True  # type: ignore[attr-defined]
    return view


def may_lag(view: Callable[..., Any]) -> bool:
    """Whether the answer of a view may be read at the replica."""
    return is_at_replica(view) or bool(getattr(view, "is_with_all", False))


def is_at_replica(view: Callable[..., Any]) -> bool:
    """Whether a view reads at the replica."""
    return bool(getattr(view, "is_at_replica", False)) or is_page(view)


def reads_of_call(reads: Reads) -> Reads:
    """Return how the call in hand reads. Raises: Invalid for a position that was never answered."""
    if reads.replica is None or flask.request.method not in _SAFE or flask.g.get("reads_primary", False):
        return reads.at_primary()
    if not is_at_replica(flask.current_app.view_functions[flask.request.endpoint or ""]):
        return reads.at_primary()
    return reads.after(_position_shown())


def read_at_primary() -> None:
    """Have the rest of the call in hand read at the primary."""
    flask.g.reads_primary = True


def begin_again_at_primary() -> None:
    """Have all of the call in hand read at the primary: nothing of what was read before is shown."""
    read_at_primary()
    flask.g.fresh_at = None


def may_be_late(refusal: Exception) -> bool:
    """Whether the primary might not refuse the call in hand: it was broken off, or has read at the replica."""
    if isinstance(refusal, Unavailable):
        return isinstance(refusal, ReplicaBrokeOff)
    return flask.g.get("fresh_at") is not None


def note_fresh(fresh_at: float | None) -> None:
    """
    Note that the call in hand shows what was read at the replica, which lacks nothing from before an instant.

    None: it was read at the primary. So is the rest, since the replica may not have what the call knows by then.
    """
    if fresh_at is None:
        read_at_primary()
    else:
        before: float | None = flask.g.get("fresh_at")
        flask.g.fresh_at = fresh_at if before is None else min(before, fresh_at)


def age_s() -> float | None:
    """Return the greatest age of the answer in hand, in seconds; None if it was read at the primary."""
    return age_since(flask.g.get("fresh_at"))


def age_since(fresh_at: float | None) -> float | None:
    """Return the seconds since an instant of the steady clock; None for None, of an answer read at the primary."""
    return None if fresh_at is None else seconds_since(fresh_at, now=time.monotonic())


def age_headers(fresh_at: float | None) -> tuple[tuple[bytes, bytes], ...]:
    """Return the header of an answer of the event loop that was read at the replica; none if it was not."""
    age = age_since(fresh_at)
    return () if age is None else ((AGE.lower().encode(), f"{age:.1f}".encode()),)


def add_headers(response: flask.Response, primary: sqlalchemy.Engine) -> None:
    """Say how old an answer is, and, to a caller that asks so, how far the log went when all of it was committed."""
    age = age_s()
    if age is not None:
        response.headers[AGE] = f"{age:.1f}"
    if WANTS_POSITION in flask.request.headers and flask.request.method not in _SAFE and response.status_code < 300:  # noqa: PLR2004  2xx
        position = position_after(primary)
        if position is not None:
            response.headers[POSITION] = position


def position_after(primary: sqlalchemy.Engine) -> str | None:
    """Write the position of the log after what was committed; None if it cannot be read: that undoes nothing."""
    try:
        return f"{log_position(primary):x}"
    except (SQLAlchemyError, psycopg.Error) as error:
        log.debug("log-position-not-read", detail=type(error).__name__)
        return None


def _position_shown() -> int:
    shown = flask.request.headers.get(POSITION)
    if shown is None:
        cookie = flask.request.cookies.get(POSITION_COOKIE, "")
        return int(cookie, 16) if _TOKEN.fullmatch(cookie) else 0
    if not _TOKEN.fullmatch(shown):
        raise Invalid((error_of_parameter(POSITION, "must be the `Log-Position` of an answer"),))
    return int(shown, 16)
