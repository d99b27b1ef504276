"""
Connections whose every wait has an end: `connect`, and what it returns.

psycopg sends a statement, and waits for what comes of it, by the connection's own `wait`. This one looks at the
deadlines whenever nothing came for a moment. After one has passed the socket is closed, by who waits for it: nothing
more can come of it, and no other thread ever touches it.
"""

import re
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import psycopg
import structlog
from psycopg import pq
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.errors import finish_pgconn
from psycopg.pq import ConnStatus, PollingStatus

from jackpot_service.database import deadlines
from jackpot_service.database.deadlines import DeadlinePassed, Heartbeat, Patience, Seconds
from jackpot_service.database.hosts import Host, Hosts, Parameters
from jackpot_service.telemetry import counters

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn

T = TypeVar("T")

USUAL_SILENCE_S: Final = 30.0
"""For how long a connection may be silent of which nobody has said anything."""

USUAL_CONNECT_S: Final = 2.0

_IS_ALIVE_S: Final = 5.0

_OF_SERVER: Final = re.compile(r" failed: [^\s:]+:  ")
"""
How a refusal to connect reads that a server has sent, in whatever language: libpq puts two spaces after its severity.
"""

_EVENTS: Final = {PollingStatus.READING: deadlines.READABLE, PollingStatus.WRITING: deadlines.WRITABLE}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a connection was made to, and when."""

    hosts: Hosts
    host: Host
    conninfo: str
    opened_at: float


class BoundedConnection(psycopg.Connection[Any]):
    """
    A connection whose every wait has an end.

    `silence_s` is for how long the socket may be silent while a statement is worked on; None is for as long as the
    database gives another connection a sign of life, up to `deadlines.LONGEST_STATEMENT_S`. `is_of_a_call` is whether
    the end of the call is its end too.
    """

    origin: Origin
    silence_s: float | None = USUAL_SILENCE_S
    is_of_a_call: bool = True

    @property
    def is_suspect(self) -> bool:
        """Whether its host fell silent since it was opened."""
        return self.origin.hosts.is_suspect(self.origin.host, opened_at=self.origin.opened_at)

    def patience(self) -> Patience:
        """Return how long a wait may last that begins now."""
        silence_s = self.silence_s
        if silence_s is None:
            return Heartbeat(
                self._gives_sign_of_life, fell_silent=self._fell_silent, took_too_long=self._ran_out_of_time
            )
        longest_s = deadlines.bounded(silence_s) if self.is_of_a_call else silence_s
        # Who began late and waited for a moment knows nothing of the host.
        return Seconds(longest_s, self._fell_silent if longest_s > silence_s / 2 else self._ran_out_of_time)

    def wait(self, gen: PQGen[T], interval: float = deadlines.SLICE_S, timeout: float | None = None) -> T:
        """Wait as psycopg's does, but for so long. Raises: DeadlinePassed, and it is closed."""
        try:
            return super().wait(_patient(gen, self.patience()), interval, timeout)
        except DeadlinePassed:
            self.pgconn.finish()
            raise

    def _fell_silent(self) -> DeadlinePassed:
        self.origin.hosts.suspect(self.origin.host)
        return self._ran_out_of_time()

    def _ran_out_of_time(self) -> DeadlinePassed:
        return _passed("statement", self.origin.host)

    def _gives_sign_of_life(self) -> bool:
        """Whatever the server says is a sign of life, also that it takes no more connections."""
        try:
            with deadlines.anew(_IS_ALIVE_S):
                pgconn = _opened(self.origin.conninfo, self.origin.host, _IS_ALIVE_S)
                with BoundedConnection(pgconn) as other:
                    other.origin = self.origin
                    other.execute("SELECT")
        except psycopg.Error as error:
            return error.sqlstate is not None or _OF_SERVER.search(str(error)) is not None
        return True


def require_time(connection: psycopg.Connection[Any]) -> None:
    """Raises: CallOver if the connection is of a call whose time is over."""
    if not isinstance(connection, BoundedConnection) or connection.is_of_a_call:
        deadlines.require_time()


def patience_of(connection: psycopg.Connection[Any]) -> Patience:
    """Return how long a wait for a connection may last that begins now, also if it is not one of ours."""
    if isinstance(connection, BoundedConnection):
        return connection.patience()
    host = Host(connection.info.host, str(connection.info.port))
    return Seconds(deadlines.bounded(USUAL_SILENCE_S), lambda: _passed("statement", host))


def _patient(gen: PQGen[T], patience: Patience) -> Generator[Any, Any, T]:
    """Pass on what psycopg's waiting is asked for, and look at the deadline when nothing came."""
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready:
                patience.spend()
            state = gen.send(ready)
    except StopIteration as end:
        found: T = end.value
        return found


def connect(hosts: Hosts, parameters: Parameters) -> BoundedConnection:
    """
    Connect to the first of the hosts that takes us, within the time that the call has left.

    Each gets `connect_timeout` seconds, or its share of what is left. Raises: psycopg.OperationalError, CallOver.
    """
    deadlines.require_time()
    longest_s = _connect_s(parameters)
    errors: list[psycopg.OperationalError] = []
    attempts = hosts.in_order(parameters)
    for number, (host, own) in enumerate(attempts):
        left = deadlines.left_s()
        share = longest_s if left is None else min(longest_s, max(left, deadlines.LEAST_S) / (len(attempts) - number))
        try:
            return _connected(hosts, host, own, share)
        except psycopg.OperationalError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    message = "; ".join(str(error).strip() for error in errors)
    raise type(errors[-1])(message, pgconn=errors[-1].pgconn) from None


def _connected(hosts: Hosts, host: Host, parameters: Parameters, longest_s: float) -> BoundedConnection:
    began = time.monotonic()
    addresses = hosts.addresses(host, longest_s=longest_s)
    for number, address in enumerate(addresses):
        conninfo = make_conninfo(**(parameters if address is None else {**parameters, "hostaddr": address}))
        left_s = longest_s - (time.monotonic() - began)
        try:
            pgconn = _opened(conninfo, host, left_s / (len(addresses) - number))
        except psycopg.OperationalError as error:
            if number < len(addresses) - 1:
                continue
            if isinstance(error, DeadlinePassed):
                hosts.suspect(host)
            raise
        hosts.trust(host)
        connection = BoundedConnection(pgconn)
        connection.origin = Origin(hosts, host, conninfo, began)
        return connection
    raise AssertionError  # the last address has raised


def _opened(conninfo: str, host: Host, longest_s: float) -> "PGconn":
    """Open a connection of libpq, a step at a time. Raises: DeadlinePassed; psycopg.OperationalError."""
    patience = Seconds(longest_s, lambda: _passed("connect", host))
    pgconn = pq.PGconn.connect_start(conninfo.encode())
    try:
        while pgconn.status != ConnStatus.BAD and (events := _EVENTS.get(PollingStatus(pgconn.connect_poll()))):
            deadlines.poll(pgconn.socket, events, patience)
        if pgconn.status == ConnStatus.OK:
            pgconn.nonblocking = 1
            return pgconn
        message = f"connection failed: {pgconn.get_error_message()}"
    except BaseException:
        pgconn.finish()
        raise
    # What is asked of it later, such as whether it needed a password, outlives the connection so.
    raise psycopg.OperationalError(message, pgconn=finish_pgconn(pgconn))


def _passed(exchange: str, host: Host) -> DeadlinePassed:
    counters.count(counters.DEADLINES_PASSED, exchange=exchange)
    log.warning("deadline-passed", exchange=exchange, host=host.name, port=host.port)
    return DeadlinePassed("The database did not answer in time.")


def _connect_s(parameters: Parameters) -> float:
    """As libpq takes it: nothing, and 0, mean without an end there, and the usual here."""
    try:
        return float(parameters.get("connect_timeout") or 0) or USUAL_CONNECT_S
    except ValueError as error:
        raise psycopg.OperationalError(f"connect_timeout: {error}") from None
