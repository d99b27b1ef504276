"""
The way into the database: pipelines, and `transact`, which commits, rolls back and tries again.

An act may let its commit go with its last statements, in the same round trip (`committed`). For an event loop there is
`attempt_by_pipelines`, which tries once and never waits otherwise (`async_executor`). `transact` does what it cannot
do.

READ COMMITTED, unique keys and row locks carry correctness. `failures` says what each error means.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from typing import Any, Final, NoReturn, TypeVar

import psycopg
import sqlalchemy
from psycopg.pq import TransactionStatus
from sqlalchemy.exc import DBAPIError

from jackpot_service.database import deadlines, pipelines
from jackpot_service.database.clocks import ClockGuard, DatabaseClock, utc_now
from jackpot_service.database.connections import DATABASE_CLOCK, HOSTS, Hosts
from jackpot_service.database.deadlines import BoundedConnection
from jackpot_service.database.distribution import DISTRIBUTION, Distribution
from jackpot_service.database.failures import (
    ATTEMPTS,
    READ_ONLY_STATE,
    Busy,
    OutcomeUnknown,
    is_connection_lost,
    is_of_another_machine,
    raise_unless_retryable,
    sqlstate,
)
from jackpot_service.database.pipelines import Pipeline, Prepared, Wait
from jackpot_service.domain.errors import LedgerError
from jackpot_service.telemetry import trouble

REQUEST_TIMEOUT_S = "request_timeout_s"
"""Under which an engine's options say how long a transaction may take, with all its attempts."""

DEFAULT_REQUEST_TIMEOUT_S = 5.0
"""That of an engine that does not say."""

CLOCK_GUARD = "clock_guard"
"""Under which an engine's options may hold what refuses to book by a clock that is off."""

NOTE: Final = "note"
"""Under which an engine's options may say how an error of its database is noted, in place of `trouble.note`."""

OF_SNAPSHOTS: Final = "REPEATABLE READ"

_ATTEMPT = "attempt"
_PREPARED = "prepared"
"""Under which a connection keeps what it knows of the statements of pipelines."""

T = TypeVar("T")

Session = sqlalchemy.Connection
"""The session of an act: one connection in one transaction. No objects are tracked in it, so it is not the ORM's."""


@contextmanager
def pipelined(session: Session) -> Iterator[Pipeline]:
    """
    Send the statements of the block in one round trip, with the BEGIN of its transaction; see `pipelines.pipelined`.

    They are plain SQL on the driver's connection, for the few statements of the hot path: arrays instead of rows, and
    no waiting between them. The first statement that fails raises its error at the end of the block.
    """
    connection = driver_connection(session)
    deadlines.require_time_of(connection)
    try:
        with pipelines.pipelined(connection, _prepared(session, connection)) as pipe:
            yield pipe
    except BaseException:
        if connection.closed and not session.closed:
            session.invalidate()  # There is nothing to roll back on it, and to try would hide why it is closed.
        raise


def driver_connection(session: Session) -> psycopg.Connection[Any]:
    """Return the driver's connection of a session."""
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)  # noqa: S101  narrows a type; the engine is made for psycopg only
    return connection


def bounded_connection(session: Session) -> BoundedConnection:
    """Return the same for a session of the service's own engines: it says how long a wait may last."""
    connection = driver_connection(session)
    assert isinstance(connection, BoundedConnection)  # noqa: S101  narrows a type; `connections` makes no others
    return connection


def _prepared(session: Session, connection: psycopg.Connection[Any]) -> Prepared:
    prepared: Prepared | None = session.info.get(_PREPARED)
    if prepared is None:
        distribution: Distribution | None = session.get_execution_options().get(DISTRIBUTION)
        written = str if distribution is None else distribution.written
        prepared = session.info[_PREPARED] = Prepared.of(connection, written=written)
    return prepared


def has_unread_message(session: Session) -> bool:
    """Whether the database has sent a session something unasked: as a rule, that the session is no more."""
    return pipelines.is_readable(driver_connection(session))


def is_suspect(session: Session) -> bool:
    """Whether the host of a session has fallen silent since it was opened."""
    return bounded_connection(session).is_suspect


def _is_in_transaction(session: Session) -> bool:
    return driver_connection(session).info.transaction_status != TransactionStatus.IDLE


def wait_by(session: Session, wait: Wait) -> None:
    """Have the pipelines of a session wait so from now on; nobody else may come by its connection."""
    _prepared(session, driver_connection(session)).wait = wait


@contextmanager
def committed(session: Session) -> Iterator[Pipeline]:
    """
    As `pipelined`, for the last statements of an act: the commit goes with them, in the same round trip.

    A statement of the block must fail by itself if it must not be committed: results can be read only afterwards.

    Raises: OutcomeUnknown if the connection breaks in it; RuntimeError if the act has passed over an error before.
    """
    attempt = _attempt_of(session)
    try:
        with pipelined(session) as pipe:
            yield pipe
            commit = pipe.command("COMMIT")
    except psycopg.Error as error:
        if not is_connection_lost(error):
            raise
        _raise_outcome_unknown(session, error)
    if commit.status != "COMMIT":
        message = f"The commit was answered by {commit.status}: nothing was written."
        raise RuntimeError(message)
    attempt.is_committed = True


@contextmanager
def committed_nothing(session: Session) -> Iterator[None]:
    """An error in the block means that an act's commit had nothing to commit: it is no unknown outcome."""
    attempt = _attempt_of(session)
    try:
        yield
    except Exception:
        attempt.is_committed = False
        raise


class _Attempt:
    """
    An attempt at an act, which may have committed itself.

    It is found by its session and kept by itself: what a session knows belongs to its place in the pool, which may be
    another's when the connection was lost.
    """

    __slots__ = ("is_committed",)

    def __init__(self) -> None:
        self.is_committed = False


def _attempt_of(session: Session) -> _Attempt:
    """Return the attempt that is made in a session."""
    attempt: _Attempt = session.info.setdefault(_ATTEMPT, _Attempt())
    return attempt


def transact(engine: sqlalchemy.Engine, act: Callable[[Session], T]) -> T:
    """
    Run one act in one transaction and commit it; a 2xx is answered only after this has returned.

    All attempts together take no longer than a request may. Raises: whatever domain error the act raised, after
    rolling back; Busy; OutcomeUnknown; ClockSkew.
    """
    with _in_time(engine):
        for number in range(1, ATTEMPTS + 1):
            with _translated_unless_retryable(engine, number), connected(engine) as session:
                session.begin()  # A pipeline alone would not: SQLAlchemy does not see what the driver is sent.
                _require_right_clock(engine, session)
                result = _acted(session, act)
                _commit(session)
                return result
            time.sleep(random.uniform(0, 0.002 * 2**number))  # noqa: S311  spreads retries, hides nothing
        raise AssertionError  # the last attempt has raised


def connected(engine: sqlalchemy.Engine) -> Session:
    """Take a connection. Raises: DeadlinePassed if each that there was went to a host that fell silent meanwhile."""
    try:
        return engine.connect()
    except sqlalchemy.exc.InvalidRequestError as error:
        message = "Every connection went to a host that fell silent."
        raise deadlines.DeadlinePassed(message) from error


def _in_time(engine: sqlalchemy.Engine) -> AbstractContextManager[None]:
    """Bound what is asked of the database in the block by the time that a request may take."""
    return deadlines.within(engine.get_execution_options().get(REQUEST_TIMEOUT_S, DEFAULT_REQUEST_TIMEOUT_S))


def guarded(engine: sqlalchemy.Engine, clock: Callable[[], datetime] = utc_now) -> sqlalchemy.Engine:
    """Return the engine for transactions that are run only while a clock is the database's."""
    database: DatabaseClock | None = engine.get_execution_options().get(DATABASE_CLOCK)
    if database is None:
        message = "The engine was not made by `connections.create_engine`."
        raise LookupError(message)
    return engine.execution_options(**{CLOCK_GUARD: ClockGuard(database, clock)})


def clock_guard(engine: sqlalchemy.Engine) -> ClockGuard | None:
    """Return what guards an engine, None if nothing does."""
    guard: ClockGuard | None = engine.get_execution_options().get(CLOCK_GUARD)
    return guard


def _require_right_clock(engine: sqlalchemy.Engine, session: Session) -> None:
    guard = clock_guard(engine)
    if guard is not None:
        guard.require(lambda: database_time(session))


def database_time(session: Session) -> datetime:
    """Read the clock of the database."""
    with pipelined(session) as pipe:
        cursor = pipe.send("SELECT clock_timestamp()", {})
    ((now,),) = cursor.fetchall()
    assert isinstance(now, datetime)  # noqa: S101  narrows a type
    return now


def attempt_by_pipelines(session: Session, act: Callable[[Session], T]) -> T:
    """
    Run one act in one transaction and commit it, once; all that is asked for it goes by pipelines.

    Raises: whatever the act raised, or the database, and then `roll_back` is due; OutcomeUnknown.
    """

    def act_to_its_end(session: Session) -> T:
        result = act(session)
        if _is_in_transaction(session):  # The act has not committed, or it has asked for something afterwards.
            with committed(session):
                pass
        return result

    result = _acted(session, act_to_its_end)
    _require_no_warnings(session)
    return result


def roll_back(session: Session) -> bool:
    """Take back what an attempt by pipelines has left; returns whether the session can be used again."""
    if session.invalidated:
        return False
    connection = driver_connection(session)
    with suppress(psycopg.Error):
        connection.rollback()
    return not connection.closed and not _is_in_transaction(session)


def _acted(session: Session, act: Callable[[Session], T]) -> T:
    session.info["warnings"].clear()
    attempt = session.info[_ATTEMPT] = _Attempt()
    with _unknown_after_commit(session, attempt):
        return act(session)


def rehearse(engine: sqlalchemy.Engine, act: Callable[[Session], T]) -> T:
    """
    Run an act and take back whatever it did: what it returns is what it would have done. It must not commit itself.

    Raises: whatever domain error the act raised; Busy.
    """

    def act_and_roll_back(session: Session) -> T:
        result = act(session)
        session.rollback()
        session.begin()
        return result

    return transact(engine, act_and_roll_back)


def read(engine: sqlalchemy.Engine, report: Callable[[Session], T]) -> T:
    """
    Run a report of which each statement may see an instant of its own: without BEGIN and COMMIT, two round trips less.

    Raises: whatever domain error the report raised; Busy.
    """
    by_itself = {"isolation_level": "AUTOCOMMIT"}
    with _in_time(engine):
        for number in range(1, ATTEMPTS + 1):
            with (
                _translated_unless_retryable(engine, number),
                connected(engine).execution_options(**by_itself) as session,
            ):
                return report(session)
        raise AssertionError  # the last attempt has raised


def read_once(engine: sqlalchemy.Engine, report: Callable[[Session], T]) -> T:
    """
    As `read`, in one attempt, for a caller that can ask elsewhere.

    Raises: whatever domain error the report raised; Busy; what else the database said.
    """
    with (
        _in_time(engine),
        translated(engine),
        connected(engine).execution_options(isolation_level="AUTOCOMMIT") as session,
    ):
        return report(session)


# Said by a statement: as an option, the connection's next user would ask to write, which a replica refuses.
READ_ONLY = sqlalchemy.text("SET TRANSACTION READ ONLY")


def read_at_once(engine: sqlalchemy.Engine, report: Callable[[Session], T]) -> T:
    """
    Run a report that sees one instant of the database in all its statements, as `snapshot`, in a request's time.

    It cannot write and takes no lock, so nobody waits for it, and it waits for nobody.

    Raises: whatever domain error the report raised; Busy.
    """
    with _in_time(engine):
        for number in range(1, ATTEMPTS + 1):
            with (
                _translated_unless_retryable(engine, number),
                connected(engine).execution_options(isolation_level=OF_SNAPSHOTS) as session,
            ):
                session.execute(READ_ONLY)
                return report(session)
        raise AssertionError  # the last attempt has raised


def is_snapshot(session: Session) -> bool:
    """Whether a session sees one instant, in which nothing moves: a lock would hold nothing still, and is refused."""
    return session.get_execution_options().get("isolation_level") == OF_SNAPSHOTS


@contextmanager
def translated(engine: sqlalchemy.Engine) -> Iterator[None]:
    """
    Translate the database's errors in the block into the service's, for callers that try again by themselves.

    Raises: Busy, whatever else than a refusal of the database's it is.
    """
    with _translated_unless_retryable(engine, ATTEMPTS):
        yield


@contextmanager
def _translated_unless_retryable(engine: sqlalchemy.Engine, attempt: int) -> Iterator[None]:
    """Translate the database's errors into the service's; pass over those that are worth another attempt."""
    began, note = time.monotonic(), engine.get_execution_options().get(NOTE, trouble.note)
    try:
        yield
    except LedgerError:
        raise
    except sqlalchemy.exc.TimeoutError as error:
        note(error)
        message = "All database connections are in use."
        raise Busy(message) from None
    except (DBAPIError, psycopg.Error) as error:
        is_read_only = sqlstate(error) == READ_ONLY_STATE and not is_of_another_machine(error)
        if is_read_only or is_connection_lost(error):
            abandon_connections(engine, since=began)
        raise_unless_retryable(error, attempt, note=note)


def abandon_connections(engine: sqlalchemy.Engine, *, since: float) -> None:
    """
    Use no connection of the engine again that was opened before now.

    The pool stays: in one that `Engine.dispose` left behind, a connection that comes back is kept open by nobody.
    """
    hosts: Hosts | None = engine.get_execution_options().get(HOSTS)
    if hosts is not None:  # An engine of the owner's keeps no connections.
        hosts.abandon_connections(since=since)


@contextmanager
def _unknown_after_commit(session: Session, attempt: _Attempt) -> Iterator[None]:
    """A failure after an act has committed itself must not be answered as if nothing had been written."""
    try:
        yield
    except Exception as error:
        if not attempt.is_committed:
            raise
        _raise_outcome_unknown(session, error)


def _commit(session: Session) -> None:
    """Commit what the act has not committed itself, and look whether the database is sure of it."""
    if not _attempt_of(session).is_committed:
        deadlines.require_time()
    try:
        session.commit()
    except (DBAPIError, psycopg.Error) as error:
        state = sqlstate(error)
        if state is not None and state[:2] in {"23", "40"}:
            raise
        _raise_outcome_unknown(session, error)
    _require_no_warnings(session)


def _require_no_warnings(session: Session) -> None:
    """Raises: OutcomeUnknown if the database warned while committing that it is not sure of it."""
    warnings: list[str] = session.info["warnings"]
    if warnings:
        message = f"The database warned while committing: {warnings[0]}"
        raise OutcomeUnknown(message)


def _raise_outcome_unknown(session: Session, error: Exception) -> NoReturn:
    trouble.note_outcome_unknown(error)
    session.invalidate()
    message = "Something broke at or after the commit."
    raise OutcomeUnknown(message) from error


LONGEST_LOOK_S = 0.75
"""For so long a connection may take to say whether the database takes entries."""

_IS_WRITABLE = sqlalchemy.text(
    "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'"
)


def is_writable(engine: sqlalchemy.Engine) -> bool:
    """
    Return whether the database takes entries: it answers, is a primary, is not set to refuse writing, and has room.

    It answers also when its disk is full, so that is known from what was refused of late (`trouble.has_no_room`).
    """
    if trouble.has_no_room():
        return False
    began = time.monotonic()
    if _says_writable(engine):
        return True
    # A connection that was kept from before a restart or a failover says nothing about now.
    abandon_connections(engine, since=began)
    return _says_writable(engine)


def _says_writable(engine: sqlalchemy.Engine) -> bool:
    try:
        with deadlines.within(LONGEST_LOOK_S), connected(engine) as connection:
            return bool(connection.execute(_IS_WRITABLE).scalar_one())
    except (DBAPIError, psycopg.Error, sqlalchemy.exc.TimeoutError) as error:
        trouble.note(error)
        return False
