"""What an error of the database means does not depend on which machine says it: a shard's names end in its number."""

import select
from typing import Final

import psycopg
import pytest

from jackpot_service.config.settings import Config
from jackpot_service.database import failures
from jackpot_service.database.clocks import ClockSkew
from jackpot_service.database.connections import create_engine
from jackpot_service.database.failures import Busy
from jackpot_service.database.transactions import Session, committed, driver_connection, transact
from jackpot_service.telemetry import trouble
from tests.support.logins import owner_conninfo

NOT_NULL = "CREATE TEMPORARY TABLE {name} (seq bigint NOT NULL)"
ADD_NULL = "INSERT INTO {name} VALUES (NULL)"
UNIQUE = "CREATE TEMPORARY TABLE t (a int CONSTRAINT {name} UNIQUE)"


@pytest.mark.parametrize("name", ["entries", "entries_102089"])
def test_a_stripe_that_took_no_entry_is_tried_again(database_url: str, name: str) -> None:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(NOT_NULL.format(name=name).encode())
        with pytest.raises(psycopg.errors.NotNullViolation) as violated:
            owner.execute(ADD_NULL.format(name=name).encode())
    failures.raise_unless_retryable(violated.value, attempt=1)


@pytest.mark.parametrize("name", ["pk_rounds", "pk_rounds_102089", "uq_rounds_ids_1020890"])
def test_two_who_open_a_round_are_tried_again(database_url: str, name: str) -> None:
    failures.raise_unless_retryable(_twice(database_url, name), attempt=1)


@pytest.mark.parametrize("name", ["pk_bets", "pk_rounds_2026", "pk_102089_rounds"])
def test_another_key_is_not(database_url: str, name: str) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        failures.raise_unless_retryable(_twice(database_url, name), attempt=1)


def _twice(database_url: str, name: str) -> psycopg.Error:
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute(UNIQUE.format(name=name).encode())
        with pytest.raises(psycopg.errors.UniqueViolation) as violated:
            owner.execute("INSERT INTO t VALUES (1), (1)")
    return violated.value


PASSED_ON: Final = (
    ("unique_violation", 'duplicate key value violates unique constraint "pk_rounds_102677"'),
    ("unique_violation", "doppelter Schlüsselwert verletzt Unique-Constraint »uq_rounds_ids_102677«"),
    ("not_null_violation", 'null value in column "seq" of relation "entries_102089" violates not-null constraint'),
    ("check_violation", 'new row for relation "bets_default_102089" violates partition constraint'),
    ("internal_error", 'new row for relation "bets_default_102089" violates partition constraint'),
    ("internal_error", 'duplicate key value violates unique constraint "uq_rounds_ids_102677"'),
)
"""
What Citus says of an error of another machine: its text, and neither table nor constraint.

Of rows that it copies there it does not say the kind of the error either.
"""

PASSED_ON_OTHERS: Final = (
    ("internal_error", 'right sibling 9 of block 7 is not next child 8 of block 3 in index "pk_rounds"'),
    ("internal_error", 'duplicate key value violates unique constraint "pk_bets_102677"'),
    ("internal_error", 'new row for relation "bets_default_102089" violates check constraint "ck_bets_stake_102089"'),
    ("unique_violation", 'duplicate key value violates unique constraint "pk_bets_102677"'),
    ("not_null_violation", 'null value in column "seq" of relation "stripes_102089" violates not-null constraint'),
    ("not_null_violation", 'null value in column "kind" of relation "entries_102089" violates not-null constraint'),
    ("check_violation", 'new row for relation "bets_default_102089" violates check constraint "ck_bets_stake_102089"'),
    ("check_violation", 'new row for relation "stripes_102089" violates partition constraint'),
)


@pytest.mark.parametrize(("state", "message"), PASSED_ON)
def test_what_another_machine_said_is_tried_again_as_well(database_url: str, state: str, message: str) -> None:
    failures.raise_unless_retryable(_error_with(database_url, state, message), attempt=1)


@pytest.mark.parametrize(("state", "message"), PASSED_ON_OTHERS)
def test_what_else_another_machine_said_is_not(database_url: str, state: str, message: str) -> None:
    error = _error_with(database_url, state, message)
    with pytest.raises(type(error)):
        failures.raise_unless_retryable(error, attempt=1)


COPIED: Final = {
    "deadlock detected": None,
    "canceling statement due to lock timeout": "held-up",
    "canceling statement due to statement timeout": "cancelled",
    "terminating connection due to administrator command": "connection-lost",
    "cannot execute COPY FROM in a read-only transaction": "not-writable",
    'could not extend file "base/19609/20310": No space left on device': "disk-full",
}
"""What Citus says, without a SQLSTATE, where rows could not be copied to another machine; and the kind of trouble."""


@pytest.mark.parametrize(("message", "kind"), COPIED.items())
def test_rows_that_could_not_be_copied_are_no_fault_of_the_service(
    database_url: str, message: str, kind: str | None
) -> None:
    error = _error_with(database_url, "internal_error", message)
    noted: list[str] = []
    with pytest.raises(Busy):
        failures.raise_unless_retryable(
            error, attempt=failures.ATTEMPTS, note=lambda noted_error: noted.append(trouble.kind_of(noted_error))
        )
    assert noted == ([] if kind is None else [kind])


def test_a_deadlock_of_rows_that_are_copied_is_tried_again(database_url: str) -> None:
    error = _error_with(database_url, "internal_error", "deadlock detected")
    failures.raise_unless_retryable(error, attempt=failures.ATTEMPTS - 1)


def test_where_another_machine_ended_a_connection_nothing_was_written_and_the_call_is_tried_again(
    database_url: str,
) -> None:
    """The coordinator answers, so the outcome is known, and its own connection is used again."""
    words = "terminating connection due to administrator command"
    engine = create_engine(Config(), database_url)
    backends = []

    def act(session: Session) -> str:
        backends.append(driver_connection(session).info.backend_pid)
        with committed(session) as pipe:
            if len(backends) == 1:
                pipe.command(f"DO $$ BEGIN RAISE EXCEPTION '{words}' USING ERRCODE = 'internal_error'; END $$")
        return "written"

    assert transact(engine, act) == "written"
    assert backends == [backends[0]] * 2
    engine.dispose()


@pytest.mark.parametrize("message", ["no deadlock detected", "deadlock detected in index pk_bets"])
def test_words_of_it_alone_are_not(database_url: str, message: str) -> None:
    error = _error_with(database_url, "internal_error", message)
    with pytest.raises(psycopg.errors.InternalError_):
        failures.raise_unless_retryable(error, attempt=1)


def test_another_machine_says_too_that_a_clock_is_ahead(database_url: str) -> None:
    refused = _error_with(
        database_url, "check_violation", "stripe 3 of live is not moved to 2027-01-01: that lies ahead"
    )
    with pytest.raises(ClockSkew):
        failures.raise_unless_retryable(refused, attempt=1)


def _error_with(database_url: str, state: str, message: str) -> psycopg.Error:
    with (
        psycopg.connect(owner_conninfo(database_url)) as owner,
        pytest.raises(psycopg.Error) as raised,
    ):
        owner.execute(f"DO $$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = '{state}'; END $$".encode())
    return raised.value


@pytest.mark.parametrize("after", ["idle_in_transaction_session_timeout", "idle_session_timeout"])
def test_a_connection_that_the_database_ended_for_idleness_is_lost(database_url: str, after: str) -> None:
    """The service itself may be suspended for a minute, amid a transaction."""
    with psycopg.connect(owner_conninfo(database_url), autocommit=after == "idle_session_timeout") as owner:
        owner.execute(f"SET {after} = 1".encode())
        select.select([owner.fileno()], [], [])
        with pytest.raises(psycopg.Error) as ended:
            owner.execute("SELECT")
        assert failures.is_connection_lost(ended.value)
        assert trouble.kind_of(ended.value) == "connection-lost"
        failures.raise_unless_retryable(ended.value, attempt=1)
        with pytest.raises(Busy):
            failures.raise_unless_retryable(ended.value, attempt=2)
