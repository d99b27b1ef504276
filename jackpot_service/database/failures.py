"""
The meaning of the database's errors: a definite refusal, a failure that wrote nothing, or an unknown outcome.

A failure that wrote nothing is tried again, or answered as `Busy`. An outcome is unknown when the connection broke in
COMMIT: the answer is `OutcomeUnknown`, and the caller repeats the same ids.
"""

import re
from collections.abc import Callable
from typing import Final, TypeGuard

import psycopg

from jackpot_service.database import deadlines
from jackpot_service.database.clocks import ClockSkew
from jackpot_service.domain.errors import Unavailable
from jackpot_service.telemetry import trouble

ATTEMPTS: Final = 8
"""How often a transaction that lost a race, and wrote nothing, is tried before the caller is refused."""

RETRYABLE_STATES: Final = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: somebody else was first."""

RACED_KEYS: Final = frozenset({"uq_rounds_ids", "pk_rounds", "uq_jobs_principal_request_id"})
"""Unique keys that two requests may both write in good faith; reading again shows the loser who won."""

HELD_UP_STATES: Final = frozenset({"55P03", "57014"})
"""Lock or statement time-out."""

BUSY_STATES: Final = frozenset({"57P03", "58030"})
BUSY_CLASS: Final = "53"
"""Starting up, a disk that fails, short of resources: the server said no; the caller should wait."""

ENDED_STATES: Final = frozenset({"25P03", "25P04", "57P01", "57P02", "57P04", "57P05"})
"""The server ended the connection: it ends itself, the database was dropped, or the connection was idle for long."""

READ_ONLY_STATE: Final = "25006"

_SHARD: Final = re.compile(r"_\d{6,}$")
"""The number of a shard, which ends the names of its table and its constraints where tables are distributed."""

_LIES_AHEAD: Final = ": that lies ahead"
"""The last words of the law that no stripe's time moves far ahead of the database's clock: `0004_laws/clock.sql`."""

_DEFAULT_PARTITION: Final = "bets_default"


class Busy(Unavailable, code="busy", title="The ledger is busy"):
    """The ledger could not do this now; nothing was written."""


HELD_UP: Final = "What this needs was held by others for too long; nothing was written."


class HeldUp(Busy):
    """A statement waited too long for a lock of another call, or took too long; nothing was written."""


class OutcomeUnknown(Unavailable, code="outcome-unknown", title="Outcome unknown"):
    """The connection broke while committing; whether it was written shows when the same ids are sent again."""


def raise_unless_retryable(error: Exception, attempt: int, *, note: Callable[[Exception], None] = trouble.note) -> None:
    """Raise an error as its caller sees it, unless another attempt may help: then return. Trouble is noted."""
    state, may_retry = sqlstate(error), not deadlines.is_over()
    if _is_ahead(error):
        message = "This would have been booked more than two seconds ahead of the database's clock."
        raise ClockSkew(message) from error
    is_lost_race = (
        state in RETRYABLE_STATES or _met_raced_key(error) or _met_new_partition(error) or _met_changed_stripe(error)
    )
    if is_lost_race and attempt < ATTEMPTS and may_retry:
        return
    if not is_lost_race:
        note(error)
    if state == READ_ONLY_STATE or state in ENDED_STATES or is_connection_lost(error):
        if attempt == 1 and may_retry:
            return
    elif is_held_up(error):
        raise HeldUp(HELD_UP) from error
    elif not is_lost_race and state not in BUSY_STATES and (state or "")[:2] != BUSY_CLASS:
        raise error
    message = "The database could not do this now; nothing was written."
    raise Busy(message) from error


def is_held_up(error: Exception) -> bool:
    """Whether the database gave up waiting for somebody else's lock, or for itself."""
    return sqlstate(error) in HELD_UP_STATES


def sqlstate(error: Exception) -> str | None:
    """Return the SQLSTATE of an error of the database, None if it has none."""
    return trouble.sqlstate(trouble.cause_of(error))


def _met_raced_key(error: Exception) -> bool:
    """Whether somebody else wrote a key first that two may write in good faith."""
    cause = trouble.cause_of(error)
    return _is_one(cause, psycopg.errors.UniqueViolation) and not RACED_KEYS.isdisjoint(_names(cause))


def _is_ahead(error: Exception) -> bool:
    """Whether the database refused to move a stripe's time ahead of its own clock."""
    cause = trouble.cause_of(error)
    return isinstance(cause, psycopg.errors.CheckViolation) and _message(cause).endswith(_LIES_AHEAD)


def _met_new_partition(error: Exception) -> bool:
    """
    Whether a row was on its way to the default partition when its month got one of its own, which it will find now.

    PostgreSQL says so by a violated check of that table without a name: a CHECK has one.
    """
    cause = trouble.cause_of(error)
    if not _is_one(cause, psycopg.errors.CheckViolation) or cause.diag.constraint_name is not None:
        return False
    names = _names(cause)
    return _DEFAULT_PARTITION in names and not any(name.startswith("ck_") for name in names)


def _met_changed_stripe(error: Exception) -> bool:
    """
    Whether a stripe did not take bets as they were decided: its jackpot was suspended meanwhile, or limits a table.

    Then it gives the entries no `seq`; the next attempt sees why.
    """
    cause = trouble.cause_of(error)
    return isinstance(cause, psycopg.errors.NotNullViolation) and {"entries", "seq"} <= _names(cause)


def _is_one(error: BaseException | None, kind: type[psycopg.Error]) -> TypeGuard[psycopg.Error]:
    """
    Whether an error may be of a kind: of rows that it copies to another machine Citus says only that it failed.

    Such an error names a shard. One of this machine that does not is what it says: an index is damaged, for example.
    """
    if isinstance(error, psycopg.errors.InternalError_):
        return any(_SHARD.search(word) for word in re.findall(r"\w+", _message(error)))
    return isinstance(error, kind)


def _names(error: psycopg.Error) -> frozenset[str]:
    """
    The table, the column and the constraint that an error speaks of, without the number of their shard.

    Citus passes on what another machine said, in that machine's language, but not its fields: there all words count.
    """
    fields = (error.diag.table_name, error.diag.column_name, error.diag.constraint_name)
    names = [name for name in fields if name is not None] or re.findall(r"\w+", _message(error))
    return frozenset(_SHARD.sub("", name) for name in names)


def _message(error: psycopg.Error) -> str:
    return error.diag.message_primary or ""


def is_of_another_machine(error: Exception) -> bool:
    """Whether it is known by its words alone, as Citus passes it on: the connection to its coordinator goes on."""
    cause = trouble.cause_of(error)
    return isinstance(cause, psycopg.errors.InternalError_) and trouble.sqlstate(cause) != cause.sqlstate


def is_connection_lost(error: Exception) -> bool:
    """Whether the connection itself failed: without a SQLSTATE, or with one that says the server ended it."""
    if is_of_another_machine(error):
        return False
    cause = trouble.cause_of(error)
    state = trouble.sqlstate(cause)
    if state is not None:
        return state.startswith("08") or state in ENDED_STATES
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
