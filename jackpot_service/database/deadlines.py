"""
Deadlines: no wait for the database has no end (docs/decisions/deadlines.md).

Two bounds hold at once. An exchange ends when the socket was silent for longer than its statements may take. A call
ends when its time is over: `within` says when that is, and every exchange of the thread or task keeps to it.

Only time in which this process runs is counted: who was suspended for a minute has not waited for a minute.

psycopg sends a statement, and waits for its answer, by the connection's own `wait`. That of a `BoundedConnection` looks
at the deadlines whenever nothing came for a moment. After one has passed, the thread that waits closes the socket:
nothing more can come, and no other thread ever touches it.
"""

import re
import select
import time
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import psycopg
import structlog
from psycopg import pq
from psycopg.abc import PQGen
from psycopg.errors import finish_pgconn
from psycopg.pq import ConnStatus, PollingStatus

from jackpot_service.database import outages
from jackpot_service.telemetry import counters

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn

T = TypeVar("T")

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

USUAL_SILENCE_S: Final = 30.0
"""For how long a connection may be silent of which nobody has said anything."""

_IS_ALIVE_S: Final = 5.0

_OF_SERVER: Final = re.compile(r" failed: [^\s:]+:  ")
"""
How a refusal to connect reads that a server has sent, in whatever language: libpq puts two spaces after its severity.
"""

_EVENTS: Final = {PollingStatus.READING: select.POLLIN, PollingStatus.WRITING: select.POLLOUT}

log = structlog.get_logger()

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

    __slots__ = ("_asked_at", "_fell_silent", "_heard", "_is_alive", "_last", "_took_too_long", "_waited_s")

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
        self._asked_at = self._heard = self._last = time.monotonic()
        self._waited_s = 0.0

    def spend(self) -> None:
        """Count a slice. Raises: DeadlinePassed."""
        began = time.monotonic()
        self._waited_s += min(began - self._last, 2 * SLICE_S)
        self._last = began
        if self._waited_s > LONGEST_STATEMENT_S:
            raise self._took_too_long()
        if began - self._asked_at < HEARTBEAT_S:
            return
        if began - self._asked_at > HEARTBEAT_S + LONGEST_SILENCE_S:  # It was suspended itself.
            self._heard = began
        if self._is_alive():
            self._heard = time.monotonic()
        self._asked_at = time.monotonic()
        if self._asked_at - self._heard > LONGEST_SILENCE_S:
            raise self._fell_silent()


def ready(descriptor: int, events: int) -> int:
    """Return which of the events there is now, 0 for none."""
    poller = select.poll()
    poller.register(descriptor, events)
    pending = poller.poll(0)
    return pending[0][1] if pending else 0


def poll(descriptor: int, events: int, patience: Patience) -> int:
    """Wait as a thread does, while others run; returns which of the events there is. Raises: DeadlinePassed."""
    poller = select.poll()
    poller.register(descriptor, events)
    while not (pending := poller.poll(patience.slice_s * 1000)):
        patience.spend()
    return pending[0][1]


@dataclass(eq=False, slots=True)
class Host:
    """
    One of the hosts that a URL names; name and port are None where it leaves them to libpq.

    `answered_at` is when it last answered a connection of this process. Instants are of the steady clock.
    """

    name: str | None
    port: str | None
    outages: "memoryview[float]" = field(default_factory=lambda: outages.host_instants(outages.unshared_instants(), 0))
    answered_at: float = 0.0

    @property
    def fell_silent_at(self) -> float:
        """When the host last did not answer some process of the service."""
        return self.outages[0]

    def fell_silent(self) -> None:
        """Let all processes of the service know that it does not answer now."""
        self.outages[0] = time.monotonic()

    def abandon_connections(self, *, since: float) -> None:
        """
        Let all processes know that a connection to it was lost, and that others from before now may be.

        Nothing is noted if another did so since the instant: many lose theirs at once, and all connect anew meanwhile.
        """
        if self.outages[1] <= since:
            self.outages[1] = time.monotonic()

    def may_have_lost(self, opened_at: float) -> bool:
        """Return whether the host fell silent, or its connections were abandoned, since one was opened."""
        return max(self.outages) > opened_at


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a connection was made to, and when."""

    host: Host
    conninfo: str
    opened_at: float


class BoundedConnection(psycopg.Connection[Any]):
    """
    A connection whose every wait has an end.

    `silence_s` is for how long the socket may be silent while a statement is worked on. None is for as long as the
    database gives another connection a sign of life, up to `LONGEST_STATEMENT_S`. `is_of_a_call` is whether the end of
    the call is its end too.
    """

    origin: Origin
    silence_s: float | None = USUAL_SILENCE_S
    is_of_a_call: bool = True

    @property
    def is_suspect(self) -> bool:
        """Whether its host fell silent since it was opened."""
        return self.origin.host.may_have_lost(self.origin.opened_at)

    def patience(self) -> Patience:
        """Return how long a wait may last that begins now."""
        silence_s = self.silence_s
        if silence_s is None:
            return Heartbeat(
                self._gives_sign_of_life, fell_silent=self._fell_silent, took_too_long=self._ran_out_of_time
            )
        longest_s = bounded(silence_s) if self.is_of_a_call else silence_s
        # A call that began late and waited for a moment knows nothing of the host.
        return Seconds(longest_s, self._fell_silent if longest_s > silence_s / 2 else self._ran_out_of_time)

    def wait(self, gen: PQGen[T], interval: float = SLICE_S, timeout: float | None = None) -> T:
        """Wait as psycopg's does, but for so long. Raises: DeadlinePassed, and it is closed."""
        try:
            return super().wait(_patient(gen, self.patience()), interval, timeout)
        except DeadlinePassed:
            self.pgconn.finish()
            raise

    def _fell_silent(self) -> DeadlinePassed:
        self.origin.host.fell_silent()
        return self._ran_out_of_time()

    def _ran_out_of_time(self) -> DeadlinePassed:
        return _passed("statement", self.origin.host)

    def _gives_sign_of_life(self) -> bool:
        """Return whether the server answers anything: a refusal of further connections is a sign of life too."""
        try:
            with anew(_IS_ALIVE_S):
                pgconn = open_by_steps(self.origin.conninfo, self.origin.host, _IS_ALIVE_S)
                with BoundedConnection(pgconn) as other:
                    other.origin = self.origin
                    other.execute("SELECT")
        except psycopg.Error as error:
            return error.sqlstate is not None or _OF_SERVER.search(str(error)) is not None
        return True


def require_time_of(connection: psycopg.Connection[Any]) -> None:
    """Raises: CallOver if the connection is of a call whose time is over."""
    if not isinstance(connection, BoundedConnection) or connection.is_of_a_call:
        require_time()


def patience_of(connection: psycopg.Connection[Any]) -> Patience:
    """Return how long a wait for a connection may last that begins now, also if it is not one of ours."""
    if isinstance(connection, BoundedConnection):
        return connection.patience()
    host = Host(connection.info.host, str(connection.info.port))
    return Seconds(bounded(USUAL_SILENCE_S), lambda: _passed("statement", host))


def _patient(gen: PQGen[T], patience: Patience) -> Generator[Any, Any, T]:
    """Pass on what psycopg waits for, and look at the deadline when nothing came."""
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready:
                patience.spend()
            state = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def open_by_steps(conninfo: str, host: Host, longest_s: float) -> "PGconn":
    """Open a connection of libpq, a step at a time. Raises: DeadlinePassed; psycopg.OperationalError."""
    patience = Seconds(longest_s, lambda: _passed("connect", host))
    pgconn = pq.PGconn.connect_start(conninfo.encode())
    try:
        while pgconn.status != ConnStatus.BAD and (events := _EVENTS.get(PollingStatus(pgconn.connect_poll()))):
            poll(pgconn.socket, events, patience)
        if pgconn.status == ConnStatus.OK:
            pgconn.nonblocking = 1
            return pgconn
        message = f"connection failed: {pgconn.get_error_message()}"
    except BaseException:
        pgconn.finish()
        raise
    # So its later answers, such as whether it needed a password, outlive the connection.
    raise psycopg.OperationalError(message, pgconn=finish_pgconn(pgconn))


def _passed(exchange: str, host: Host) -> DeadlinePassed:
    counters.count(counters.DEADLINES_PASSED, exchange=exchange)
    log.warning("deadline-passed", exchange=exchange, host=host.name, port=host.port)
    return DeadlinePassed("The database did not answer in time.")
