"""
Steps that a call takes, and what comes of each: the one thing that the two clients do differently.

A call is a generator (`exchange.py`, `lists.py`, `feed.py`). It yields steps, gets back what came of each, and returns
its answer. It sends nothing and waits for nothing itself: `sync_line.py` and `async_line.py` do so.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar, cast

import httpx

T = TypeVar("T")

_NOTHING_WAS_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""No byte of the request left: there was no connection. A handshake of TLS that failed is a ConnectError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it goes over the wire, every time."""

    method: str
    path: str
    body: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the method and the path, for logs and messages."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request and read the whole answer within so many seconds: Received, or Failed."""

    request: Request
    seconds: float
    is_waiting: bool = False
    """Whether the service may take its time: such calls take no connection that bets are sent on."""


@dataclass(frozen=True, slots=True)
class Listen:
    """
    Send a request whose answer goes on: Listening if it does, Received if it is any other answer, or Failed.

    Each piece may take so many seconds.
    """

    request: Request
    connect_seconds: float
    silence_seconds: float


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait for the next piece of the answer that is listened to: bytes, or Failed, also for its end."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Let so many seconds pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Item:
    """Hand a value to the caller of an iterator."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An answer as it came."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def media_type(self) -> str:
        """Return the media type without its parameters."""
        return str(self.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Listening:
    """An answer that goes on."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There was no answer, or not all of one."""

    reason: str
    was_sent: bool
    cause: Exception | None = None


Step: TypeAlias = Send | Listen | Hear | Pause | Item
Outcome: TypeAlias = Received | Listening | Failed | bytes | None
Steps: TypeAlias = Generator[Step, Outcome, T]


def send(request: Request, *, seconds: float, is_waiting: bool = False) -> Steps[Received | Failed]:
    """Send a request once."""
    return cast("Received | Failed", (yield Send(request, seconds, is_waiting)))


def listen(request: Request, *, connect_seconds: float, silence_seconds: float) -> Steps[Received | Listening | Failed]:
    """Begin to listen to an answer; one that was listened to before is closed."""
    return cast("Received | Listening | Failed", (yield Listen(request, connect_seconds, silence_seconds)))


def hear() -> Steps[bytes | Failed]:
    """Wait for the next piece."""
    return cast("bytes | Failed", (yield Hear()))


def failed(error: Exception) -> Failed:
    """Return what an error of httpx says of its request."""
    return Failed(f"{type(error).__name__}: {error}", was_sent=not isinstance(error, _NOTHING_WAS_SENT), cause=error)


FAILURES: Final = (httpx.TransportError, httpx.DecodingError)
"""The errors that leave a call without its answer; any other is a mistake of the program."""
