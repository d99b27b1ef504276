"""
Trouble with the database leaves a trace: a counter, and a line in the log a minute and kind.

A refusal of the ledger is no trouble, nor is a race that is lost and run again.
"""

import re
from typing import Final

import psycopg
import sqlalchemy

from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

NO_ROOM_FOR_S: Final = 5.0
"""For how long after a write that found the disk full the service says that it is not ready."""

_KINDS: Final = {
    "25006": "not-writable",
    "25P03": "connection-lost",
    "25P04": "connection-lost",
    "53100": "disk-full",
    "55P03": "held-up",
    "57014": "cancelled",
    "57P01": "connection-lost",
    "57P02": "connection-lost",
    "57P03": "no-connection",
    "57P04": "connection-lost",
    "57P05": "connection-lost",
    "58030": "disk-full",
}
"""The meaning of a SQLSTATE here; 58030 is a disk that fails, after which nothing can be written either."""

_KINDS_OF_CLASS: Final = {"08": "connection-lost", "28": "sign-in-refused", "53": "too-few-resources"}

_SIGN_IN_REFUSED: Final = re.compile(
    r"authentication failed|pg_hba\.conf|no password supplied|permission denied|role .* (does|is) not "
)
"""libpq has no SQLSTATE for a connection that was not made, only the server's sentence."""

_TOO_MANY: Final = re.compile(r"too many (clients|connections)|remaining connection slots")

_COPIED: Final = (
    (re.compile(r"deadlock detected$"), "40P01"),
    (re.compile(r"canceling statement due to lock timeout$"), "55P03"),
    (re.compile(r"canceling statement due to statement timeout$"), "57014"),
    (re.compile(r"terminating connection due to administrator command$"), "57P01"),
    (re.compile(r"cannot execute COPY FROM in a read-only transaction$"), "25006"),
    (re.compile(r"could not (extend|write to) file .*: No space left on device$"), "53100"),
)
"""
PostgreSQL's words about rows that Citus copies to another machine, and the SQLSTATE that Citus does not pass on.

`jackpot db distribute` has the machines speak English to the service.
"""

_seldom = Seldom()


def note(error: Exception) -> None:
    """Count and log an error of the database, by its kind."""
    cause = cause_of(error)
    kind = kind_of(cause)
    _note(kind, cause)
    if kind == "disk-full":
        counters.stamp(counters.DISK_FULL_AT)


def note_of_replica(error: Exception) -> None:
    """Log an error of a replica: bets wait for none, and how its readings end is counted where they are asked."""
    cause = cause_of(error)
    _log("replica-trouble", kind_of(cause), cause)


def note_outcome_unknown(error: Exception) -> None:
    """Count and log a connection that broke in COMMIT; a full disk can be why."""
    cause = cause_of(error)
    if kind_of(cause) == "disk-full":
        note(error)
    _note("outcome-unknown", cause)


def has_no_room() -> bool:
    """Whether the database, though it answers, has refused to write of late because its disk is full."""
    return 0 <= counters.seconds_since(counters.DISK_FULL_AT) < NO_ROOM_FOR_S  # Not from a clock that was ahead.


def kind_of(cause: BaseException | None) -> str:
    """Return the kind of trouble that an error of the database is."""
    if isinstance(cause, sqlalchemy.exc.TimeoutError):
        return "pool-exhausted"
    if not isinstance(cause, psycopg.Error):
        return "unexpected"
    state = sqlstate(cause)
    if state is not None:
        return _KINDS.get(state) or _KINDS_OF_CLASS.get(state[:2], "unexpected")
    if isinstance(cause, psycopg.errors.ConnectionTimeout) or cause.pgconn is not None:
        return _kind_of_refusal(str(cause))
    return "connection-lost" if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError) else "unexpected"


def _kind_of_refusal(sentence: str) -> str:
    """Return why no connection was made."""
    if _SIGN_IN_REFUSED.search(sentence):
        return "sign-in-refused"
    return "too-few-resources" if _TOO_MANY.search(sentence) else "no-connection"


def cause_of(error: Exception) -> BaseException | None:
    """Return the driver's error, which SQLAlchemy may have wrapped."""
    return error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else error


def sqlstate(cause: BaseException | None) -> str | None:
    """Return the SQLSTATE of a driver's error, None if it has none; that of copied rows by what is said of them."""
    if not isinstance(cause, psycopg.Error):
        return None
    if isinstance(cause, psycopg.errors.InternalError_):
        message = cause.diag.message_primary or ""
        return next((state for sentence, state in _COPIED if sentence.match(message)), cause.sqlstate)
    return cause.sqlstate


def _note(kind: str, cause: BaseException | None) -> None:
    counters.count(counters.DATABASE_ERRORS, kind=kind)
    _log("database-trouble", kind, cause)


def _log(event: str, kind: str, cause: BaseException | None) -> None:
    detail = str(cause).partition("\n")[0]
    _seldom.warning(event, about=kind, kind=kind, sqlstate=sqlstate(cause), detail=detail)
