"""Waits for a database that hangs: each ends by itself, and what nobody waits for any more is not used again."""

import asyncio
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
import structlog
from sqlalchemy import text

from jackpot_service.database import deadlines
from jackpot_service.database.async_executor import AsyncExecutor, NeedsThread
from jackpot_service.database.connections import Hosts, connect, create_engine, create_owners_engine
from jackpot_service.database.deadlines import DeadlinePassed
from jackpot_service.database.failures import Busy, HeldUp, OutcomeUnknown
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session, committed, pipelined, read, transact
from jackpot_service.telemetry import counters
from tests.faults.freezing import frozen, refusing_server, silent_server
from tests.faults.scratch import CONFIG, Act, Database, nothing, pid_of
from tests.support.drivers import connection_of

pytestmark = pytest.mark.long

HASTY = replace(CONFIG, pool_size=2, statement_timeout_ms=200, request_timeout_s=1.5)
"""A call is over after a second and a half; tests wait for far longer, so that a slow machine proves nothing."""

LONGEST_WAIT_S = 30
INSERT = "INSERT INTO scratch VALUES (%(id)s, %(at_commit)s)"


def ended(call: Callable[[], object]) -> object:
    """What a call comes to that has to end by itself, while something stays frozen: its error, or what it returns."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(call)
        try:
            error = future.exception(LONGEST_WAIT_S)
        except TimeoutError:
            pytest.fail("it waits for ever")
        return error or future.result()


def passed() -> float:
    values = [
        sample.value
        for family in counters.collector().collect()
        for sample in family.samples
        if sample.name == f"{counters.DEADLINES_PASSED}_total"
    ]
    return sum(values)


@pytest.fixture
def engine(database: Database) -> sqlalchemy.Engine:
    return database.engine(HASTY)


def freezing(stack: list[int]) -> Callable[[Session], None]:
    """Make an act's way to go wrong: its own backend is stopped."""

    def freeze(session: Session) -> None:
        stack.append(connection_of(session).info.backend_pid)
        os.kill(stack[-1], signal.SIGSTOP)

    return freeze


def asking_a_frozen_one(stack: list[int]) -> Callable[[Session], None]:
    """Make an act's way to go wrong: it asks its own backend something that was stopped before."""

    def ask(session: Session) -> None:
        freezing(stack)(session)
        session.execute(text("SELECT 1"))

    return ask


@pytest.fixture
def stopped() -> Iterator[list[int]]:
    """Give the test a list of stopped processes, which go on at its end."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


# --- Threads --------------------------------------------------------------------------------------------------------


def test_a_statement_that_hangs_is_given_up_and_tried_again_on_another_connection(
    database: Database, stopped: list[int]
) -> None:
    before = passed()
    act = Act(1, asking_a_frozen_one(stopped), commits_itself=True)
    patient = database.engine(replace(HASTY, request_timeout_s=20))
    with structlog.testing.capture_logs() as logged:
        assert ended(lambda: act.done(patient)) == "done"
    assert (act.calls, database.ids()) == (2, [1])
    assert passed() == before + 1
    assert [line["event"] for line in logged] == ["deadline-passed", "database-trouble"]


def test_a_pipeline_that_hangs_is_given_up_in_the_time_of_its_call(
    database: Database, engine: sqlalchemy.Engine, stopped: list[int]
) -> None:
    def fail(session: Session) -> None:
        freezing(stopped)(session)
        with pipelined(session) as pipe:
            pipe.send("SELECT 1", {})

    assert isinstance(ended(lambda: Act(1, fail, failures=9).done(engine)), Busy)
    assert database.ids() == []
    assert ended(lambda: Act(2, nothing).done(engine)) == "done"


@pytest.mark.parametrize("commits_itself", [False, True])
def test_a_commit_that_hangs_leaves_the_outcome_unknown(
    engine: sqlalchemy.Engine, stopped: list[int], *, commits_itself: bool
) -> None:
    act = Act(1, freezing(stopped), commits_itself=commits_itself)
    assert isinstance(ended(lambda: act.done(engine)), OutcomeUnknown)
    assert ended(lambda: Act(2, nothing).done(engine)) == "done"


def test_a_rollback_that_hangs_is_given_up(engine: sqlalchemy.Engine, stopped: list[int]) -> None:
    def fail(session: Session) -> None:
        session.execute(text("SELECT 1"))
        freezing(stopped)(session)
        message = "made up"
        raise LookupError(message)

    assert isinstance(ended(lambda: transact(engine, fail)), Busy)
    assert ended(lambda: Act(2, nothing).done(engine)) == "done"


def test_a_reading_that_hangs_is_given_up(engine: sqlalchemy.Engine, stopped: list[int]) -> None:
    assert isinstance(ended(lambda: read(engine, asking_a_frozen_one(stopped))), Busy)


@pytest.mark.parametrize("met_by", ["itself", "another process"])
def test_idle_connections_to_a_host_that_fell_silent_are_not_used_again(
    database: Database, stopped: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, met_by: str
) -> None:
    monkeypatch.setenv(counters.DIRECTORY, str(tmp_path))
    hasty = replace(HASTY, request_timeout_s=20)
    engine = database.engine(hasty)
    with engine.connect() as first, engine.connect() as second:
        idle = {pid_of(first), pid_of(second)}
    act = Act(1, asking_a_frozen_one(stopped), commits_itself=True)
    assert ended(lambda: act.done(engine if met_by == "itself" else database.engine(hasty))) == "done"
    used = {transact(engine, pid_of) for _ in range(3)}
    assert used.isdisjoint(idle)


def test_a_connection_that_another_lost_is_not_used_again_when_it_comes_back(database: Database) -> None:
    """Nor is it left open in a pool that is nobody's: such a one is closed by nobody."""
    engine = database.engine(CONFIG)
    pool = engine.pool

    def lose(session: Session) -> None:
        database.terminate(pid_of(session))
        session.execute(text("SELECT 1"))

    def lose_another(session: Session) -> tuple[int, psycopg.Connection[Any]]:
        ending = Act(1, lose, commits_itself=True)
        assert ended(lambda: ending.done(engine)) == "done"
        assert ending.calls == 2
        return pid_of(session), connection_of(session)

    pid, connection = transact(engine, lose_another)

    used = set()
    with ExitStack() as stack:
        for _ in range(CONFIG.pool_size):
            used.add(pid_of(stack.enter_context(engine.connect())))
    assert pid not in used
    assert connection.closed
    assert engine.pool is pool


def test_a_call_that_is_over_asks_nothing_more_and_keeps_its_connection(
    database: Database, engine: sqlalchemy.Engine
) -> None:
    def act(session: Session) -> None:
        pids.append(pid_of(session))
        while not deadlines.is_over():
            time.sleep(0.01)
        session.execute(text("INSERT INTO scratch VALUES (1)"))

    pids: list[int] = []
    assert isinstance(ended(lambda: transact(engine, act)), HeldUp)
    assert database.ids() == []
    assert transact(engine, pid_of) == pids[0]


def test_what_is_committed_too_late_is_not_committed(database: Database, engine: sqlalchemy.Engine) -> None:
    def act(session: Session) -> None:
        session.execute(text("INSERT INTO scratch VALUES (1)"))
        while not deadlines.is_over():
            time.sleep(0.01)

    assert isinstance(ended(lambda: transact(engine, act)), HeldUp)
    assert database.ids() == []


def test_a_slow_statement_that_the_database_allows_is_waited_for(database: Database) -> None:
    engine = database.engine(replace(CONFIG, statement_timeout_ms=5000, request_timeout_s=20))
    transact(engine, lambda session: session.execute(text("SELECT pg_sleep(1.5)")))
    with snapshot(database.engine(HASTY), longest_s=20) as session:
        session.execute(text("SELECT pg_sleep(2)"))


def test_who_was_suspended_himself_for_longer_than_a_deadline_still_takes_the_answer() -> None:
    """The steady clock went on for a minute between two looks, and the process did not run."""
    nothing_came = deadlines.Seconds(1, lambda: deadlines.DeadlinePassed("passed"))
    nothing_came._last -= 60
    nothing_came.spend()
    assert nothing_came.slice_s > 0
    with (
        silent_server() as port,
        socket.create_connection(("127.0.0.1", port)) as client,
        pytest.raises(DeadlinePassed),
    ):
        deadlines.poll(client.fileno(), select.POLLIN, nothing_came)


# --- Snapshots without an end of their own --------------------------------------------------------------------------


def test_a_long_statement_is_waited_for_while_the_database_gives_signs_of_life(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(deadlines, "LONGEST_SILENCE_S", 2)
    with snapshot(database.engine(HASTY)) as session:
        session.execute(text("SELECT pg_sleep(3)"))


def test_a_long_statement_is_given_up_when_the_database_gives_no_sign_of_life(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(deadlines, "LONGEST_SILENCE_S", 0.5)
    monkeypatch.setattr(deadlines, "_IS_ALIVE_S", 0.2)
    engine = database.engine(HASTY)

    def look() -> None:
        with snapshot(engine) as session:
            connection = connection_of(session)
            with silent_server() as port:
                assert isinstance(connection, deadlines.BoundedConnection)
                origin = connection.origin
                connection.origin = replace(origin, conninfo=f"host=127.0.0.1 port={port}")
                session.execute(text("SELECT pg_sleep(3600)"))

    assert isinstance(ended(look), Busy)


def test_the_owner_waits_for_as_long_as_the_database_lives(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "HEARTBEAT_S", 0.1)
    engine = create_owners_engine(database.url, lock_timeout_ms=100)
    transact(engine, lambda session: session.execute(text("SELECT pg_sleep(2)")))


@pytest.mark.parametrize(
    ("answer", "is_alive"),
    [
        (None, False),
        (b"", False),
        (b"SFATAL\0VFATAL\0C53300\0Mtoo many clients already\0\0", True),
        ("SВАЖНО\0VFATAL\0C57P03\0Mсистема баз данных запускается\0\0".encode(), True),  # noqa: RUF001  as it is written there
    ],
    ids=["nobody listens", "closed at once", "refused by the server", "refused in another language"],
)
def test_only_what_the_database_says_is_a_sign_of_its_life(
    database: Database, answer: bytes | None, *, is_alive: bool
) -> None:
    with database.engine(HASTY).connect() as session, refusing_server(answer) as port:
        connection = connection_of(session)
        assert isinstance(connection, deadlines.BoundedConnection)
        connection.origin = replace(connection.origin, conninfo=f"host=127.0.0.1 port={port} sslmode=disable")
        assert connection._gives_sign_of_life() is is_alive


# --- Connecting -----------------------------------------------------------------------------------------------------


def url_of(port: int) -> str:
    return f"postgresql+psycopg://postgres@127.0.0.1:{port}/jackpot"


def test_a_server_that_takes_a_connection_and_says_nothing_is_given_up() -> None:
    with silent_server() as port:
        engine = create_engine(HASTY, url_of(port))
        assert isinstance(ended(lambda: transact(engine, nothing)), Busy)


@pytest.mark.parametrize("hangs_in", ["connect", "statement"])
def test_a_call_to_a_silent_host_waits_no_longer_than_its_time(
    database: Database, stopped: list[int], monkeypatch: pytest.MonkeyPatch, hangs_in: str
) -> None:
    """By the waits that the call began, all attempts together: no machine is too slow for that."""
    waited_s: list[float] = []
    spend = deadlines.Seconds.spend

    def counted(patience: deadlines.Seconds) -> None:
        waited_s.append(deadlines.SLICE_S)
        spend(patience)

    monkeypatch.setattr(deadlines.Seconds, "spend", counted)
    with silent_server() as port:
        engine = create_engine(HASTY, url_of(port)) if hangs_in == "connect" else database.engine(HASTY)
        act = nothing if hangs_in == "connect" else asking_a_frozen_one(stopped)
        assert isinstance(ended(lambda: transact(engine, act)), Busy)
    assert 0 < sum(waited_s) <= HASTY.request_timeout_s + 1


def test_a_host_that_is_silent_is_passed_over_and_asked_last_from_then_on(database: Database) -> None:
    with silent_server() as port:
        hosts = Hosts()
        parameters = {**database.owner.info.get_parameters(), "connect_timeout": 1}
        parameters |= {"host": f"127.0.0.1,{parameters['host']}", "port": f"{port},{parameters.get('port', 5432)}"}
        connect(hosts, parameters).close()
        before = passed()
        connect(hosts, parameters).close()
    assert passed() == before


def test_a_host_that_is_not_writable_is_passed_over(database: Database) -> None:
    database.owner.execute(
        sqlalchemy.text("ALTER DATABASE {} SET default_transaction_read_only = on").text.format(
            psycopg.sql.Identifier(database.owner.info.dbname).as_string()
        )
    )
    parameters = {**database.owner.info.get_parameters(), "target_session_attrs": "read-write"}
    with pytest.raises(psycopg.OperationalError, match="read-only"):
        connect(Hosts(), parameters)


def test_a_name_that_nobody_looks_up_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def look_up(*_: object, **__: object) -> list[Any]:
        calls.append(1)
        assert answered.wait(LONGEST_WAIT_S)
        return []

    calls: list[int] = []
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    engine = create_engine(HASTY, "postgresql+psycopg://postgres@database.example/jackpot")
    outcomes = [ended(lambda: transact(engine, nothing)) for _ in range(3)]
    answered.set()
    assert [type(outcome) for outcome in outcomes] == [Busy] * 3
    assert len(calls) == 1, "each call has begun a look-up of its own"


def test_an_address_that_is_silent_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{n}", 0)) for n in (1, 2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    with silent_server() as port, pytest.raises(psycopg.OperationalError, match="Connection refused"):
        connect(Hosts(), {"host": "database.example", "port": port, "connect_timeout": 1})


def test_a_name_that_nobody_knows_is_busy() -> None:
    engine = create_engine(HASTY, "postgresql+psycopg://postgres@nowhere.invalid/jackpot")
    assert isinstance(ended(lambda: transact(engine, nothing)), Busy)


def test_the_addresses_of_a_name_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(name: str, port: str, **_: object) -> list[Any]:
        assert name == "database.example"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{n}", port)) for n in (2, 1)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with silent_server() as port, pytest.raises(DeadlinePassed):  # The first refuses, the second says nothing.
        connect(Hosts(), {"host": "database.example", "port": port, "connect_timeout": 1})


# --- The loop -------------------------------------------------------------------------------------------------------


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


def inserting(number: int, before: Callable[[], object] = lambda: None) -> Callable[[Session], None]:
    def insert(session: Session) -> None:
        before()
        with committed(session) as pipe:
            pipe.send(INSERT, {"id": number, "at_commit": ""})

    return insert


async def opened(async_executor: AsyncExecutor) -> None:
    with pytest.raises(NeedsThread):
        await async_executor.run(inserting(0))
    while not async_executor._idle:  # noqa: ASYNC110  as a thread opens it
        await asyncio.sleep(0.001)


def test_a_commit_that_hangs_on_the_loop_leaves_the_outcome_unknown_while_others_run(
    engine: sqlalchemy.Engine, threads: ThreadPoolExecutor
) -> None:
    async def play() -> int:
        async_executor = AsyncExecutor(engine, threads=threads, most=1)
        await opened(async_executor)
        pid = connection_of(async_executor._idle[0].session).info.backend_pid
        with frozen(pid):
            acting = asyncio.ensure_future(async_executor.run(inserting(1)))
            turns = 0
            while not acting.done():
                await asyncio.sleep(0.001)
                turns += 1
            assert isinstance(acting.exception(), OutcomeUnknown)
        return turns

    assert asyncio.run(asyncio.wait_for(play(), LONGEST_WAIT_S)) > 10


def test_what_hangs_on_the_loop_before_its_commit_needs_a_thread(
    database: Database, engine: sqlalchemy.Engine, threads: ThreadPoolExecutor
) -> None:
    def ask(session: Session) -> None:
        with pipelined(session) as pipe:
            pipe.send("SELECT 1", {})
        inserting(1)(session)

    async def play() -> None:
        async_executor = AsyncExecutor(engine, threads=threads, most=1)
        await opened(async_executor)
        with frozen(connection_of(async_executor._idle[0].session).info.backend_pid), pytest.raises(NeedsThread):
            await async_executor.run(ask)

    asyncio.run(asyncio.wait_for(play(), LONGEST_WAIT_S))
    assert database.ids() == []


def test_what_the_loop_keeps_of_a_host_that_fell_silent_is_not_used_again(
    database: Database, engine: sqlalchemy.Engine, threads: ThreadPoolExecutor, stopped: list[int]
) -> None:
    async def play() -> None:
        async_executor = AsyncExecutor(engine, threads=threads, most=1)
        await opened(async_executor)
        pooled = async_executor._idle[0]

        await asyncio.to_thread(ended, lambda: transact(engine, asking_a_frozen_one(stopped)))
        with pytest.raises(NeedsThread):
            await async_executor.run(inserting(1))
        while not async_executor._idle:
            with pytest.raises(NeedsThread):
                await async_executor.run(inserting(1))
            await asyncio.sleep(0.01)
        assert async_executor._idle[0].session is not pooled.session

    asyncio.run(asyncio.wait_for(play(), LONGEST_WAIT_S))
    assert database.ids() == []


def test_a_loop_that_was_held_up_for_longer_than_a_deadline_takes_the_answer_that_came(
    database: Database, engine: sqlalchemy.Engine, threads: ThreadPoolExecutor
) -> None:
    async def play() -> None:
        async_executor = AsyncExecutor(engine, threads=threads, most=1)
        await opened(async_executor)
        acting = asyncio.ensure_future(async_executor.run(inserting(1)))
        await asyncio.sleep(0)
        time.sleep(3)  # noqa: ASYNC251  it holds up the loop
        await acting

    asyncio.run(asyncio.wait_for(play(), LONGEST_WAIT_S))
    assert database.ids() == [1]
