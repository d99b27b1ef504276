"""What `transact` makes of each failure: refused, tried again, busy, or unknown; always against the real database."""

import select
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NoReturn

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.app import create_app
from jackpot_service.database.failures import ATTEMPTS, Busy
from jackpot_service.database.transactions import Session, driver_connection, transact
from jackpot_service.domain.errors import Refused
from tests.faults.scratch import CONFIG, LONGEST_WAIT_S, Act, Database, nothing, pid_of, sleep, sleep_in_pipeline

pytestmark = pytest.mark.slow

RAISE = "DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '{}'; END $$"


# --- Connections that end -------------------------------------------------------------------------------------------


def test_a_connection_that_ended_before_a_statement_is_replaced_and_the_act_done_once(database: Database) -> None:
    def end(session: Session) -> None:
        database.terminate(pid_of(session))
        session.execute(text("SELECT 1"))

    act = Act(1, end)
    assert transact(database.engine(), act) == "done"
    assert (act.calls, database.ids()) == (2, [1])


@pytest.mark.parametrize("fail", [sleep, sleep_in_pipeline])
def test_a_connection_that_ends_in_a_statement_is_replaced_and_the_act_done_once(
    database: Database, fail: Callable[[Session], None]
) -> None:
    ending = database.when_waiting("PgSleep", "pg_terminate_backend")
    act = Act(1, fail)
    assert transact(database.engine(), act) == "done"
    ending.join()
    assert (act.calls, database.ids()) == (2, [1])


def test_connections_that_end_again_and_again_are_busy_and_the_engine_recovers(database: Database) -> None:
    def end(session: Session) -> None:
        database.terminate(pid_of(session))
        session.execute(text("SELECT 1"))

    engine = database.engine()
    act = Act(1, end, failures=ATTEMPTS)
    with pytest.raises(Busy):
        transact(engine, act)
    assert (act.calls, database.ids()) == (2, [])
    assert transact(engine, Act(1, nothing)) == "done"
    assert database.ids() == [1]


def test_pooled_connections_that_all_ended_cost_one_more_attempt(database: Database) -> None:
    engine = database.engine()
    with engine.connect() as first, engine.connect() as second, engine.connect() as third:
        pids = [pid_of(session) for session in (first, second, third)]
    for pid in pids:
        database.terminate(pid)
    assert transact(engine, Act(1, nothing)) == "done"
    assert database.ids() == [1]


def test_a_connection_that_was_idle_for_too_long_in_its_transaction_is_replaced(database: Database) -> None:
    """As when the service is suspended for a minute: the act is done once, by a connection that the pool opens."""

    def fall_asleep(session: Session) -> None:
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 1"))
        select.select([driver_connection(session).fileno()], [], [])
        session.execute(text("SELECT 1"))

    engine = database.engine()
    act = Act(1, fall_asleep)
    assert transact(engine, act) == "done"
    assert (act.calls, database.ids()) == (2, [1])
    assert transact(engine, nothing) is None


# --- Races and waits ------------------------------------------------------------------------------------------------


def test_a_serialization_failure_is_tried_again(database: Database) -> None:
    database.owner.execute("INSERT INTO scratch VALUES (1)")

    calls = 0

    def act(session: Session) -> None:
        nonlocal calls
        calls += 1
        session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        session.execute(text("SELECT FROM scratch"))
        if calls == 1:
            database.owner.execute("UPDATE scratch SET at_commit = 'theirs'")
        session.execute(text("UPDATE scratch SET at_commit = at_commit || ' and ours'"))

    transact(database.engine(), act)
    assert calls == 2
    assert database.owner.execute("SELECT at_commit FROM scratch").fetchone() == ("theirs and ours",)


def test_a_deadlock_is_resolved_by_trying_one_of_the_two_again(database: Database) -> None:
    database.owner.execute("INSERT INTO scratch VALUES (1), (2)")
    meet = threading.Barrier(2)
    calls: list[int] = []

    def act(session: Session, first: int, second: int) -> None:
        is_first_call = first not in calls
        calls.append(first)
        session.execute(text("SELECT FROM scratch WHERE id = :id FOR UPDATE"), {"id": first})
        if is_first_call:
            meet.wait(LONGEST_WAIT_S)
        session.execute(text("SELECT FROM scratch WHERE id = :id FOR UPDATE"), {"id": second})

    engine = database.engine()
    with ThreadPoolExecutor(2) as pool:
        for done in [
            pool.submit(transact, engine, lambda session: act(session, 1, 2)),
            pool.submit(transact, engine, lambda session: act(session, 2, 1)),
        ]:
            done.result(LONGEST_WAIT_S)
    # Whoever is stopped begins again, and may be before the other when he does: then they meet once more.
    assert set(calls) == {1, 2}
    assert len(calls) > 2


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_loses_every_race_is_busy_after_some_attempts(database: Database, state: str) -> None:
    act = Act(1, lambda session: session.execute(text(RAISE.format(state))), failures=ATTEMPTS)
    with pytest.raises(Busy):
        transact(database.engine(), act)
    assert (act.calls, database.ids()) == (ATTEMPTS, [])


@pytest.mark.parametrize("fail", [sleep, sleep_in_pipeline])
def test_a_statement_that_takes_too_long_is_busy_at_once(database: Database, fail: Callable[[Session], None]) -> None:
    engine = database.engine(replace(CONFIG, statement_timeout_ms=500))
    act = Act(1, fail)
    with pytest.raises(Busy):
        transact(engine, act)
    assert (act.calls, database.ids()) == (1, [])
    assert transact(engine, Act(1, nothing)) == "done"


def test_a_lock_that_does_not_come_is_busy_at_once(database: Database) -> None:
    engine = database.engine(replace(CONFIG, lock_timeout_ms=50))
    act = Act(1, lambda session: session.execute(text("LOCK TABLE stripes IN ROW SHARE MODE")))
    with database.owner.transaction():
        database.owner.execute("LOCK TABLE stripes IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Busy):
            transact(engine, act)
    assert (act.calls, database.ids()) == (1, [])
    assert transact(engine, Act(1, nothing)) == "done"


def test_a_pool_without_a_free_connection_is_busy(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1, pool_timeout_s=0.05))
    act = Act(1, nothing)
    with engine.connect(), pytest.raises(Busy):
        transact(engine, act)
    assert act.calls == 0
    assert transact(engine, act) == "done"


def test_a_database_that_became_read_only_is_busy_until_it_is_writable_again(database: Database) -> None:
    (name,) = database.owner.execute("SELECT current_database()").fetchone() or ("",)
    engine = database.engine()
    assert transact(engine, Act(1, nothing)) == "done"
    database.owner.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    engine.dispose()
    client = create_app(CONFIG, engine).test_client()
    assert client.get("/readyz").status_code == 503
    for _ in range(2):
        with pytest.raises(Busy):
            transact(engine, Act(2, nothing))
    database.owner.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    assert client.get("/readyz").status_code == 200
    assert transact(engine, Act(2, nothing)) == "done"
    assert database.ids() == [1, 2]


def test_a_connection_that_is_still_read_only_is_replaced(database: Database) -> None:
    """As after a failover: the pool still holds connections to what is a replica now."""
    engine = database.engine()
    with engine.connect() as first, engine.connect() as second:
        for session in (first, second):
            session.execute(text("SET SESSION default_transaction_read_only = on"))
            session.commit()
    act = Act(1, nothing)
    assert transact(engine, act) == "done"
    assert (act.calls, database.ids()) == (2, [1])


# --- What is neither ------------------------------------------------------------------------------------------------


def test_a_refusal_rolls_back_and_is_raised_as_it_is(database: Database) -> None:
    def refuse(_session: Session) -> NoReturn:
        message = "No."
        raise Refused(message)

    act = Act(1, refuse)
    with pytest.raises(Refused, match=r"No\."):
        transact(database.engine(), act)
    assert (act.calls, database.ids()) == (1, [])


def test_a_bug_rolls_back_and_is_raised_as_it_is(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    act = Act(1, lambda session: session.execute(text("SELECT 1 / 0")))
    with pytest.raises(DBAPIError, match="division by zero"):
        transact(engine, act)
    with pytest.raises(ZeroDivisionError):
        transact(engine, Act(1, lambda _session: 1 // 0))
    assert (act.calls, database.ids()) == (1, [])
    assert transact(engine, Act(1, nothing)) == "done"
