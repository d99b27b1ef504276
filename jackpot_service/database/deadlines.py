"""
How long the service waits for its database: no wait has no end (docs/decisions/deadlines.md).

Two bounds hold at once. An exchange ends when the socket was silent for longer than its statements may take. A call
ends when its time is over: `within` says when that is, and every exchange of the thread or task keeps to it.

Only time in which this process runs is counted: who was suspended for a minute has not waited for a minute.
"""

import select
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, Protocol

import psycopg

SLICE_S: Final = 0.25
"""For so long nobody looks at a clock: what arrives ends the wait at once."""

LEAST_S: Final = 0.25
"""For so long an exchange may take when its call is over: to roll back, so that the connection can be used again."""

HEARTBEAT_S: Final = 10.0
"""How often a database is asked for a sign of life while a statement takes as long as it likes."""

LONGEST_SILENCE_S: Final = 60.0
"""After so long without a sign of life of its database, such a statement is given up."""

LONGEST_STATEMENT_S: Final = 6 * 3600.0
"""After so long such a statement is given up though its database lives: the backend that works on it may hang."""

READABLE: Final = select.POLLIN
WRITABLE: Final = select.POLLOUT

_call_ends: ContextVar[float | None] = ContextVar("call_ends", default=None)


class DeadlinePassed(psycopg.OperationalError):
    """The database has not answered in time; its connection is not used any more."""


class CallOver(psycopg.errors.QueryCanceled):
    """The time of the call is over before the database was asked; the connection can be used again."""


class until:  # noqa: N801  it is used as a function
    """Bound all exchanges of the block by an instant of the steady clock, in place of a bound set around it."""

    __slots__ = ("_at", "_token")

    def __init__(self, at: float) -> None:
        self._at = at

    def __enter__(self) -> None:
        """Begin."""
        self._token = _call_ends.set(self._at)

    def __exit__(self, *_: object) -> None:
        """End."""
        _call_ends.reset(self._token)


def within(seconds: float) -> until:
    """Bound all exchanges of the block together; a bound that was set around it holds too."""
    outer, inner = _call_ends.get(), time.monotonic() + seconds
    return until(inner if outer is None or inner < outer else outer)


def anew(seconds: float) -> until:
    """Bound all exchanges of the block together, in place of a bound that was set around it."""
    return until(time.monotonic() + seconds)


def extend(seconds: float) -> None:
    """Give the call more time, by as much as somebody else took of it."""
    ends = _call_ends.get()
    if ends is not None:
        _call_ends.set(ends + seconds)


def left_s() -> float | None:
    """Return how much time the call has left, None if it has no end; it may be negative."""
    ends = _call_ends.get()
    return None if ends is None else ends - time.monotonic()


def is_over() -> bool:
    """Whether the time of the call is over."""
    left = left_s()
    return left is not None and left <= 0


def require_time() -> None:
    """Raises: CallOver if nothing may be asked of the database any more, also no commit."""
    if is_over():
        message = "The time of this call is over."
        raise CallOver(message)


def bounded(longest_s: float) -> float:
    """Return for how long an exchange may last that begins now: until the call is over, or so long."""
    left = left_s()
    return longest_s if left is None else min(longest_s, max(left, LEAST_S))


class Patience(Protocol):
    """How long a wait lasts."""

    @property
    def slice_s(self) -> float:
        """Seconds to wait until `spend`."""

    def spend(self) -> None:
        """Count a slice in which nothing came. Raises: DeadlinePassed if it was the last."""


class Seconds:
    """Patience for some seconds."""

    __slots__ = ("_last", "_left", "_pass")

    def __init__(self, seconds: float, passed: Callable[[], DeadlinePassed]) -> None:
        self._left = seconds
        self._last = time.monotonic()
        self._pass = passed

    @property
    def slice_s(self) -> float:
        """Return how long to wait."""
        return max(0.0, min(SLICE_S, self._left))

    def spend(self) -> None:
        """Count a slice. Raises: DeadlinePassed."""
        now = time.monotonic()
        self._left -= min(now - self._last, 2 * SLICE_S)
        self._last = now
        if self._left <= 0:
            raise self._pass()


class Heartbeat:
    """Patience for as long as something is alive, which is asked now and then; `LONGEST_STATEMENT_S` at most."""

    __slots__ = ("_asked", "_fell_silent", "_heard", "_is_alive", "_last", "_took_too_long", "_waited_s")

    slice_s = SLICE_S

    def __init__(
        self,
        is_alive: Callable[[], bool],
        *,
        fell_silent: Callable[[], DeadlinePassed],
        took_too_long: Callable[[], DeadlinePassed],
    ) -> None:
        self._is_alive = is_alive
        self._fell_silent = fell_silent
        self._took_too_long = took_too_long
        self._asked = self._heard = self._last = time.monotonic()
        self._waited_s = 0.0

    def spend(self) -> None:
        """Count a slice. Raises: DeadlinePassed."""
        began = time.monotonic()
        self._waited_s += min(began - self._last, 2 * SLICE_S)
        self._last = began
        if self._waited_s > LONGEST_STATEMENT_S:
            raise self._took_too_long()
        if began - self._asked < HEARTBEAT_S:
            return
        if began - self._asked > HEARTBEAT_S + LONGEST_SILENCE_S:  # It was suspended itself.
            self._heard = began
        if self._is_alive():
            self._heard = time.monotonic()
        self._asked = time.monotonic()
        if self._asked - self._heard > LONGEST_SILENCE_S:
            raise self._fell_silent()


def ready(descriptor: int, events: int) -> int:
    """Return which of the events there is now, 0 for none."""
    poller = select.poll()
    poller.register(descriptor, events)
    found = poller.poll(0)
    return found[0][1] if found else 0


def poll(descriptor: int, events: int, patience: Patience) -> int:
    """Wait as a thread does, while others run; returns which of the events there is. Raises: DeadlinePassed."""
    poller = select.poll()
    poller.register(descriptor, events)
    while not (found := poller.poll(patience.slice_s * 1000)):
        patience.spend()
    return found[0][1]
