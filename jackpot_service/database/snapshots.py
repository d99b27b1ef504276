"""
Sessions that read for long: over one instant of the database, or on and on.

They hold no lock that others need, and have no time-out while their caller works with what was read.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import psycopg
import sqlalchemy
from psycopg.sql import SQL, Literal
from sqlalchemy import event

from jackpot_service.database import deadlines
from jackpot_service.database.connections import PLANNED_ANEW, SPARE_S
from jackpot_service.database.failures import HeldUp
from jackpot_service.database.transactions import (
    OF_SNAPSHOTS,
    READ_ONLY,
    Session,
    bounded_connection,
    connected,
    driver_connection,
    translated,
)

LONGEST_CANCEL_S: Final = 2.0


@contextmanager
def reading(engine: sqlalchemy.Engine) -> Iterator[Session]:
    """
    Open a session for reading on and on, of which each statement sees an instant of its own.

    So it keeps no old rows alive, however long it takes, as a snapshot would. Its connection is nobody's before or
    after: the pool may be thrown away meanwhile, because another found the database gone.
    """
    with connected(engine).execution_options(isolation_level="AUTOCOMMIT") as session:
        bounded_connection(session).is_of_a_call = False
        session.detach()
        yield session


@contextmanager
def snapshot(
    engine: sqlalchemy.Engine,
    *,
    longest_s: float | None = None,
    of: str | None = None,
    first: Callable[[Session], object] | None = None,
) -> Iterator[Session]:
    """
    Open a session that sees one instant of the database, however long it reads, and cannot write.

    The instant is that of another session, if its `exported_snapshot` is given, as long as that one is open. It lies
    after all that is done `first`, by the same connection.
    Without `longest_s`, only each of its statements has an end, in hours. It has no time-out while its caller works
    with what was read: a proof over years of entries reads for long, and holds no lock that others need.

    Raises: HeldUp, also for what is asked after that time, and Busy, in place of what the database says in the block.
    """
    with (
        translated(engine),
        connected(engine).execution_options(isolation_level=OF_SNAPSHOTS) as session,
        ExitStack() as unhurried,
    ):
        if first is not None:  # In the usual time: its caller can go elsewhere.
            first(session)
            session.rollback()
        unhurried.enter_context(_unhurried(session, longest_s))
        session.execute(READ_ONLY)
        if of is not None:
            session.exec_driver_sql(SQL("SET TRANSACTION SNAPSHOT {}").format(Literal(of)).as_string())
        statement_s = deadlines.LONGEST_STATEMENT_S if longest_s is None else longest_s
        session.execute(_FOR_LONG, {"statement_timeout": str(round(statement_s * 1000))})
        if longest_s is None:
            session.execute(sqlalchemy.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        else:
            event.listen(session, "before_cursor_execute", _refusing_after(time.monotonic() + longest_s))
        yield session


def exported_snapshot(session: Session) -> str:
    """Name the instant that a session of `snapshot` sees, for sessions of other processes."""
    name: str = session.execute(sqlalchemy.text("SELECT pg_export_snapshot()")).scalar_one()
    return name


def cancel_statement(session: Session) -> None:
    """Have the database end the statement that a session waits for in another thread, if there is such a wait."""
    with suppress(psycopg.Error, sqlalchemy.exc.SQLAlchemyError):
        if not session.closed:
            driver_connection(session).cancel_safe(timeout=LONGEST_CANCEL_S)


@contextmanager
def _unhurried(session: Session, longest_s: float | None) -> Iterator[None]:
    """Let statements of the block take so long, or as long as the database is alive, whatever time their call has."""
    connection = bounded_connection(session)
    silence_s, of_a_call = connection.silence_s, connection.is_of_a_call
    connection.silence_s = None if longest_s is None else longest_s + SPARE_S
    connection.is_of_a_call = False
    try:
        yield
    finally:
        connection.silence_s, connection.is_of_a_call = silence_s, of_a_call


_FOR_LONG = sqlalchemy.text(
    "SELECT set_config('statement_timeout', :statement_timeout, true)"
    + "".join(f", set_config('{name}', '{usual}', true)" for name, usual in PLANNED_ANEW.items())
)


def _refusing_after(until: float) -> Callable[..., None]:
    """Look at the clock before each statement: a time-out bounds one of them, not all together."""

    def refuse(*_: object) -> None:
        if time.monotonic() > until:
            message = "The reading took too long."
            raise HeldUp(message)

    return refuse
