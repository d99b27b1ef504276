"""
Answers that browsers let pages of the configured origins read (CORS): what is open to all about a jackpot.

That is the feed and the wall of a jackpot that is displayed, for callers without a key. No other answer has these
headers, and none lets a page have a browser send a key or a cookie.
"""

from collections.abc import Iterable
from typing import Final

Headers = tuple[tuple[bytes, bytes], ...]

ORIGIN: Final = b"origin"

VARIES: Final = "Origin"

_READABLE: Final = b"Retry-After, X-Request-Id"
"""The headers that a page may read: when to come again, and the id for the log."""

_MAY_BE_SENT: Final = b"Accept, Cache-Control, Last-Event-ID, X-Request-Id"
"""The headers that a page may set: those of clients of server-sent events, and never `Authorization`."""

_KEPT_FOR_S: Final = b"600"


def allowing(origin: str, origins: Iterable[str]) -> Headers:
    """Return the headers that let a page of another origin read an answer, if the origin is one of those named."""
    if origin not in origins:
        return ()
    return (b"access-control-allow-origin", origin.encode()), (b"access-control-expose-headers", _READABLE)


def allowing_call(origin: str, origins: Iterable[str]) -> Headers:
    """Return the headers of the answer to a preflight, by which a browser asks before it makes a call for a page."""
    if origin not in origins:
        return ()
    return (
        (b"access-control-allow-origin", origin.encode()),
        (b"access-control-allow-methods", b"GET"),
        (b"access-control-allow-headers", _MAY_BE_SENT),
        (b"access-control-max-age", _KEPT_FOR_S),
        (b"vary", VARIES.encode()),
    )
