"""What `transact` makes of each failure: refused, tried again, busy, or unknown; always against the real database."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service import embedded, migrate
from jackpot_service.app import create_app
from jackpot_service.config import Config
from jackpot_service.connections import create_engine
from jackpot_service.db import ATTEMPTS, Busy, OutcomeUnknown, Session, begun, committed, pipelined, transact
from jackpot_service.domain.errors import Refused
from tests.races import books, scene

CONFIG = Config(pool_size=4, statement_timeout_ms=20_000, lock_timeout_ms=20_000)
LONGEST_WAIT_S = 20

SCRATCH = """
CREATE TABLE scratch (id int PRIMARY KEY, at_commit text NOT NULL DEFAULT '');
GRANT SELECT, INSERT, UPDATE ON scratch TO jackpot_app;
CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CASE NEW.at_commit
        WHEN 'sleep' THEN PERFORM pg_sleep(60);
        WHEN 'nap' THEN PERFORM pg_sleep(0.3);
        WHEN 'warn' THEN RAISE WARNING 'not yet safe';
        WHEN 'refuse' THEN RAISE check_violation;
        ELSE NULL;
    END CASE;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON scratch DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION at_commit();
"""
"""A table whose rows can hold a COMMIT open, warn in it, or make it fail."""

RAISE = "DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '{}'; END $$"


@dataclass
class Database:
    """A database with the scratch table, and its owner's connection, which may end other people's."""

    url: str
    owner: psycopg.Connection[Any]
    engines: list[sqlalchemy.Engine] = field(default_factory=list)

    def engine(self, config: Config = CONFIG) -> sqlalchemy.Engine:
        engine = create_engine(config, self.url)
        self.engines.append(engine)
        return engine

    def ids(self) -> list[int]:
        """The rows that are committed."""
        return [number for (number,) in self.owner.execute("SELECT id FROM scratch ORDER BY id")]

    def terminate(self, pid: int) -> None:
        """End a connection, and wait until it is gone."""
        assert self.owner.execute("SELECT pg_terminate_backend(%s, 20000)", [pid]).fetchone() == (True,)

    def when_waiting(self, event: str, act: str) -> "threading.Thread":
        """Start a thread that waits for a connection to wait for an event, and then does something to it."""
        thread = threading.Thread(target=self._when_waiting, args=(event, act), daemon=True)
        thread.start()
        return thread

    def _when_waiting(self, event: str, act: str) -> None:
        question = f"""
        SELECT {act}(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = %s
        """  # noqa: S608  a constant
        until = time.monotonic() + LONGEST_WAIT_S
        with psycopg.connect(self.owner.info.dsn, autocommit=True) as watcher:
            while not watcher.execute(question, [event]).rowcount and time.monotonic() < until:
                time.sleep(0.005)


@contextmanager
def _database(url: str) -> Iterator[Database]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute(SCRATCH)
        database = Database(url, owner)
        yield database
        for engine in database.engines:
            engine.dispose()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with _database(database_url) as database:
        yield database


@pytest.fixture
def waiting_database(tmp_path: Path) -> Iterator[Database]:
    """Give the test a database whose commits, where asked to, wait for a replica that does not exist."""
    settings = {"fsync": "off", "synchronous_standby_names": "nobody", "synchronous_commit": "local"}
    with embedded.running(tmp_path, settings=settings) as url:
        migrate.upgrade(url)
        with _database(url) as database:
            yield database


@dataclass
class Act:
    """An act that inserts a row, and goes wrong in the way it was told, the first times."""

    number: int
    fail: Callable[[Session], object]
    failures: int = 1
    at_commit: str = ""
    commits_itself: bool = False
    """Whether the row and the commit are sent together, as on the hot path."""
    begins_itself: bool = False
    """Whether BEGIN is sent together with its first statement, as on the hot path."""
    calls: int = 0

    def done(self, engine: sqlalchemy.Engine) -> str:
        return transact(engine, self, begins=self.begins_itself)

    def __call__(self, session: Session) -> str:
        self.calls += 1
        if self.begins_itself:
            with begun(session) as pipe:
                pipe.send("SELECT 1", {})
        row = {"id": self.number, "at_commit": self.at_commit}
        if not self.commits_itself:
            session.execute(text("INSERT INTO scratch VALUES (:id, :at_commit)"), row)
        if self.calls <= self.failures:
            self.fail(session)
        if self.commits_itself:
            with committed(session) as pipe:
                pipe.send("INSERT INTO scratch VALUES (%(id)s, %(at_commit)s)", row)
        return "done"


def nothing(_session: Session) -> None:
    pass


def pid_of(session: Session) -> int:
    pid: int = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
    return pid


def sleep(session: Session) -> None:
    session.execute(text("SELECT pg_sleep(60)"))


def sleep_in_pipeline(session: Session) -> None:
    with pipelined(session) as pipe:
        pipe.send("SELECT 1", {})
        pipe.send("SELECT pg_sleep(60)", {})
        pipe.send("SELECT 2", {})


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


# --- BEGIN ----------------------------------------------------------------------------------------------------------


def test_an_act_that_begins_itself_is_taken_back_as_a_whole(database: Database) -> None:
    def refuse(session: Session) -> NoReturn:
        with begun(session) as pipe:
            pipe.send("INSERT INTO scratch VALUES (1)", {})
        session.execute(text("INSERT INTO scratch VALUES (2)"))
        message = "no"
        raise Refused(message)

    with pytest.raises(Refused):
        transact(database.engine(), refuse, begins=True)
    assert database.ids() == []


def test_a_connection_that_ends_while_an_act_begins_is_replaced_and_the_act_done_once(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    with engine.connect() as session:
        pid = pid_of(session)
    database.terminate(pid)

    act = Act(1, nothing, begins_itself=True, commits_itself=True)
    assert act.done(engine) == "done"
    assert (act.calls, database.ids()) == (2, [1])


def test_who_takes_the_connection_of_an_act_that_began_itself_has_a_transaction(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    assert Act(1, nothing, begins_itself=True, commits_itself=True).done(engine) == "done"

    with engine.connect() as session:
        session.execute(text("INSERT INTO scratch VALUES (2)"))
        session.rollback()
    assert database.ids() == [1]


def test_an_act_that_was_said_to_begin_and_does_not_is_stopped_before_it_writes(database: Database) -> None:
    for how in ({}, {"commits_itself": True}):

        def act(session: Session, how: Mapping[str, bool] = how) -> None:
            with committed(session) if how else pipelined(session) as pipe:
                pipe.send("INSERT INTO scratch VALUES (1)", {})

        with pytest.raises(RuntimeError, match="did not begin"):
            transact(database.engine(), act, begins=True)
    assert database.ids() == []


def test_an_act_may_begin_in_two_steps(database: Database) -> None:
    def act(session: Session) -> None:
        for number in (1, 2):
            with begun(session) as pipe:
                pipe.send("INSERT INTO scratch VALUES (%(id)s)", {"id": number})

    transact(database.engine(), act, begins=True)
    assert database.ids() == [1, 2]


# --- COMMIT ---------------------------------------------------------------------------------------------------------

HOW = pytest.mark.parametrize(
    "how",
    [{}, {"commits_itself": True}, {"begins_itself": True}, {"begins_itself": True, "commits_itself": True}],
    ids=["then committed", "committing itself", "beginning itself", "beginning and committing itself"],
)


@HOW
def test_a_connection_that_ends_in_commit_leaves_the_outcome_unknown_and_may_have_written_nothing(
    database: Database, how: Mapping[str, Any]
) -> None:
    engine = database.engine()
    ending = database.when_waiting("PgSleep", "pg_terminate_backend")
    act = Act(1, nothing, at_commit="sleep", **how)
    with pytest.raises(OutcomeUnknown):
        act.done(engine)
    ending.join()
    assert (act.calls, database.ids()) == (1, [])
    assert transact(engine, Act(1, nothing)) == "done"
    assert database.ids() == [1]


def wait_for_replica(session: Session) -> None:
    session.execute(text("SET LOCAL synchronous_commit = on"))


@HOW
def test_a_connection_that_ends_in_commit_leaves_the_outcome_unknown_and_may_have_written_all(
    waiting_database: Database, how: Mapping[str, Any]
) -> None:
    engine = waiting_database.engine()
    ending = waiting_database.when_waiting("SyncRep", "pg_terminate_backend")
    act = Act(1, wait_for_replica, **how)
    with pytest.raises(OutcomeUnknown):
        act.done(engine)
    ending.join()
    assert (act.calls, waiting_database.ids()) == (1, [1])
    assert transact(engine, Act(2, nothing)) == "done"


@HOW
def test_a_commit_that_no_replica_confirmed_is_no_acknowledgement(
    waiting_database: Database, how: Mapping[str, Any]
) -> None:
    engine = waiting_database.engine()
    ending = waiting_database.when_waiting("SyncRep", "pg_cancel_backend")
    act = Act(1, wait_for_replica, **how)
    with pytest.raises(OutcomeUnknown, match="warned"):
        act.done(engine)
    ending.join()
    assert (act.calls, waiting_database.ids()) == (1, [1])
    assert transact(engine, Act(2, nothing)) == "done"


@HOW
def test_a_warning_in_commit_is_no_acknowledgement_and_does_not_stick_to_the_connection(
    database: Database, how: Mapping[str, Any]
) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    with pytest.raises(OutcomeUnknown, match="not yet safe"):
        Act(1, nothing, at_commit="warn", **how).done(engine)
    assert transact(engine, Act(2, nothing)) == "done"
    assert database.ids() == [1, 2]


@HOW
def test_a_commit_is_not_cut_off_by_the_statement_timeout(database: Database, how: Mapping[str, Any]) -> None:
    engine = database.engine(replace(CONFIG, statement_timeout_ms=100))
    assert Act(1, nothing, at_commit="nap", **how).done(engine) == "done"
    assert database.ids() == [1]


@HOW
def test_a_constraint_that_fails_in_commit_is_a_definite_failure(database: Database, how: Mapping[str, Any]) -> None:
    act = Act(1, nothing, at_commit="refuse", **how)
    with pytest.raises((DBAPIError, psycopg.Error), match="check_violation"):
        act.done(database.engine())
    assert (act.calls, database.ids()) == (1, [])


@pytest.mark.parametrize("begins", [False, True])
def test_a_commit_that_is_answered_by_a_rollback_is_no_success(database: Database, *, begins: bool) -> None:
    def act(session: Session) -> None:
        with begun(session) as pipe:
            pipe.send("INSERT INTO scratch VALUES (1)", {})
        with pytest.raises(DBAPIError):
            session.execute(text("SELECT 1 / 0"))
        with committed(session):
            pass

    with pytest.raises(RuntimeError, match="nothing was written"):
        transact(database.engine(), act, begins=begins)
    assert database.ids() == []


def test_the_same_ids_after_a_broken_commit_are_booked_once(database: Database) -> None:
    engine = database.engine()
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"])
    database.owner.execute("CREATE TABLE held (id int)")
    database.owner.execute(
        """
        CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN IF EXISTS (SELECT FROM held) THEN PERFORM pg_sleep(60); END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON bets DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION hold();
        INSERT INTO held VALUES (1);
        """
    )
    ending = database.when_waiting("PgSleep", "pg_terminate_backend")
    with pytest.raises(OutcomeUnknown):
        scene.bet(engine, "T1", "r1", scene.euro("b1"))
    ending.join()
    database.owner.execute("DELETE FROM held")
    assert scene.bet(engine, "T1", "r1", scene.euro("b1")).accepted == 1
    assert scene.bet(engine, "T1", "r1", scene.euro("b1")).replayed == 1
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(1,)]
    books.require_clean(engine)


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
    assert sorted(calls) in ([1, 1, 2], [1, 2, 2])


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_loses_every_race_is_busy_after_some_attempts(database: Database, state: str) -> None:
    act = Act(1, lambda session: session.execute(text(RAISE.format(state))), failures=ATTEMPTS)
    with pytest.raises(Busy):
        transact(database.engine(), act)
    assert (act.calls, database.ids()) == (ATTEMPTS, [])


@pytest.mark.parametrize("fail", [sleep, sleep_in_pipeline])
def test_a_statement_that_takes_too_long_is_busy_at_once(database: Database, fail: Callable[[Session], None]) -> None:
    engine = database.engine(replace(CONFIG, statement_timeout_ms=50))
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
