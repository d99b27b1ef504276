"""Pipelines on real connections: what fails in them, what no socket holds, and what a connection keeps of them."""

import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import psycopg
import pytest
import sqlalchemy
from psycopg.pq import TransactionStatus

from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session, pipelined, transact
from tests.faults.scratch import CONFIG, LONGEST_WAIT_S, Act, Database, nothing, pid_of
from tests.support.drivers import connection_of

pytestmark = pytest.mark.slow

ADD = "INSERT INTO scratch (id) VALUES (%(id)s)"
LARGE = 8_000_000
"""Far more than a socket takes at once."""


@contextmanager
def opened(database: Database, **options: str) -> Iterator[Session]:
    """The pool's one connection, which has not been asked anything yet."""
    engine = database.engine(replace(CONFIG, pool_size=1))
    with engine.connect().execution_options(**options) as session:
        session.begin()
        yield session
        session.commit()


def send(session: Session, *statements: str) -> None:
    with pipelined(session) as pipe:
        for statement in statements:
            pipe.send(statement, {"id": 1})


def fail_after(session: Session, *statements: str) -> None:
    with pipelined(session) as pipe:
        for statement in statements:
            pipe.send(statement, {})
        raise LookupError


def test_each_statement_sees_what_those_before_it_did_and_is_read_afterwards(database: Database) -> None:
    with opened(database) as session:
        with pipelined(session) as pipe:
            pipe.send(ADD, {"id": 1})
            seen = pipe.send("SELECT id, NULL FROM scratch ORDER BY id", {})
            pipe.send(ADD, {"id": 2})
            with pytest.raises(RuntimeError, match="after its block"):
                seen.fetchone()
        assert (seen.fetchall(), seen.fetchone()) == ([(1, None)], (1, None))


def test_the_first_error_is_told_and_the_connection_goes_on(database: Database) -> None:
    with opened(database) as session:
        pid = pid_of(session)
        with pytest.raises(psycopg.errors.DivisionByZero):
            send(session, "SELECT 1 / 0", "SELECT missing", ADD)
        session.rollback()
        session.begin()
        send(session, ADD)  # It was never reached, and is prepared now.
        with pytest.raises(psycopg.errors.UndefinedColumn):
            send(session, "SELECT missing")
        session.rollback()
        assert pid_of(session) == pid
    assert database.ids() == []


def test_what_failed_or_was_never_reached_has_no_rows_to_be_read(database: Database) -> None:
    with opened(database) as session:
        cursors = []
        with suppress(psycopg.errors.DivisionByZero), pipelined(session) as pipe:
            cursors += [pipe.send(statement, {}) for statement in ("SELECT 1", "SELECT 1 / 0", "SELECT 2")]
        session.rollback()
        answered, *rest = cursors
        assert answered.fetchall() == [(1,)]
        for cursor in rest:
            with pytest.raises(RuntimeError, match="not answered"):
                cursor.fetchall()


def test_an_error_in_the_block_is_told_whatever_the_database_says(database: Database) -> None:
    with opened(database) as session:
        pid = pid_of(session)
        with pytest.raises(LookupError):
            fail_after(session, "SELECT 1 / 0")
        session.rollback()
        session.begin()
        send(session, ADD)
        assert pid_of(session) == pid
    assert database.ids() == [1]


def ask(session: Session) -> None:
    session.execute(sqlalchemy.text("SELECT 1"))


@pytest.mark.parametrize("asks", [ask, lambda session: send(session, ADD)], ids=["a statement", "a pipeline"])
def test_nothing_else_is_asked_of_a_connection_in_a_pipelines_block(
    database: Database, asks: Callable[[Session], None]
) -> None:
    def act(session: Session) -> None:
        with pipelined(session) as pipe:
            pipe.send(ADD, {"id": 7})
            asks(session)

    with pytest.raises(RuntimeError, match="pipeline is open"):
        transact(database.engine(), act)
    assert database.ids() == []


def test_a_block_that_sends_nothing_begins_nothing(database: Database) -> None:
    with opened(database) as session:
        with pipelined(session):
            pass
        assert connection_of(session).info.transaction_status == TransactionStatus.IDLE


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_begins_as_isolated_as_the_session_asks(database: Database, isolation: str) -> None:
    with opened(database, isolation_level=isolation) as session:
        with pipelined(session) as pipe:
            shown = pipe.send("SHOW transaction_isolation", {})
        assert shown.fetchone() == (isolation.lower(),)
        assert connection_of(session).info.transaction_status == TransactionStatus.INTRANS


def test_statements_of_a_session_without_transactions_stand_alone(database: Database) -> None:
    with opened(database, isolation_level="AUTOCOMMIT") as session:
        with pipelined(session) as pipe:
            pipe.send(ADD, {"id": 1})
        assert connection_of(session).info.transaction_status == TransactionStatus.IDLE
        assert database.ids() == [1]


def test_more_than_a_socket_holds_goes_both_ways(database: Database) -> None:
    with opened(database) as session:
        with pipelined(session) as pipe:
            echoes = [
                pipe.send("SELECT %(text)s || '', %(number)s::int", {"text": letter * LARGE, "number": number})
                for letter, number in (("x", 7), ("y", 8))
            ]
        assert [(len(text), text[0], number) for ((text, number),) in map(list, echoes)] == [
            (LARGE, "x", 7),
            (LARGE, "y", 8),
        ]


def test_parameters_are_found_by_name_and_a_doubled_percent_is_one(database: Database) -> None:
    with opened(database) as session:
        with pipelined(session) as pipe:
            cursor = pipe.send(
                "SELECT 7 %% %(by)s::int, %(by)s, 'ab' LIKE 'a%%', %(one)s::text", {"one": None, "by": 4, "more": 1}
            )
        assert cursor.fetchall() == [(3, 4, True, None)]


def test_a_statement_is_prepared_once_a_connection_also_over_a_rollback(database: Database) -> None:
    with opened(database) as session:
        for number in range(8):  # After five executions the driver would prepare too, and forget it at a rollback.
            session.execute(sqlalchemy.text("SELECT 1"))
            with pipelined(session) as pipe:
                pipe.send(ADD, {"id": number})
                pipe.send(ADD, {"id": number + 100})
            session.rollback()
            session.begin()
        statement = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO scratch%'"
        assert session.execute(sqlalchemy.text(statement)).scalar_one() == 1


def test_a_statement_whose_table_was_changed_is_prepared_again(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    statement = "SELECT id FROM scratch"
    transact(engine, lambda session: send(session, statement))
    database.owner.execute("ALTER TABLE scratch ALTER id TYPE bigint")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        transact(engine, lambda session: send(session, statement))
    transact(engine, lambda session: send(session, statement))


def test_a_plan_that_a_snapshot_made_is_nobody_elses(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    statement = "SELECT id FROM scratch WHERE id = %(id)s"
    database.owner.execute("INSERT INTO scratch VALUES (1); ANALYZE scratch")
    with snapshot(engine) as session:
        for _ in range(6):  # Then it would be kept, and in a table of one row it reads all of them.
            send(session, statement)

    with engine.connect() as session:
        name = session.info["prepared"].names[statement].decode()
        plan = session.execute(sqlalchemy.text(f"EXPLAIN EXECUTE {name} (1)")).scalars().all()
    assert "Index" in plan[0]


def test_who_waits_for_an_answer_takes_no_processor(database: Database) -> None:
    with opened(database) as session:
        before = time.thread_time()
        send(session, "SELECT pg_sleep(0.5)")
        assert time.thread_time() - before < 0.25


def test_what_was_sent_is_answered_while_the_block_does_something_else(database: Database) -> None:
    with opened(database) as session:
        with pipelined(session) as pipe:
            answer = pipe.command("SELECT 1 AS number, 2 AS other")
            pipe.is_all()
            poller = select.poll()
            poller.register(connection_of(session).pgconn.socket, select.POLLIN)
            assert poller.poll(LONGEST_WAIT_S * 1000), "nobody answers before the block ends"
        assert (answer.columns, answer.fetchall()) == (("number", "other"), [(1, 2)])


def test_a_connection_that_was_lost_says_so(database: Database) -> None:
    with opened(database) as session:
        pid = pid_of(session)
        database.terminate(pid)
        with pytest.raises(psycopg.OperationalError, match=r"lost|terminat|closed"):
            send(session, ADD)
        session.rollback()


def test_a_connection_whose_driver_prepares_too_is_refused(database: Database) -> None:
    engine = sqlalchemy.create_engine(database.url, poolclass=sqlalchemy.NullPool)
    with engine.connect() as session, pytest.raises(ValueError, match="prepare_threshold"), pipelined(session):
        pass


def test_whoever_is_interrupted_while_he_waits_leaves_no_connection_behind(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def wait(session: Session) -> None:
        before.append(pid_of(session))
        with pipelined(session) as pipe:
            pipe.send(ADD, {"id": 1})
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            pipe.send("SELECT pg_sleep(60)", {})

    before: list[int] = []
    usual = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            transact(engine, wait)
    finally:
        signal.signal(signal.SIGALRM, usual)
    assert Act(2, nothing).done(engine) == "done"
    with engine.connect() as session:
        assert pid_of(session) not in before
    database.terminate(before[0])
    assert database.ids() == [2]
