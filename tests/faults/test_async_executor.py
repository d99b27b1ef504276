"""Acts on an event loop: written without a thread, or not at all; and what their connections survive."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import pytest
import uvloop
from sqlalchemy import text

from jackpot_service.database.async_executor import AsyncExecutor, NeedsThread
from jackpot_service.database.connections import LONGEST_KEPT_S, create_engine
from jackpot_service.database.failures import HeldUp, OutcomeUnknown
from jackpot_service.database.transactions import Session, committed, pipelined
from tests.faults.scratch import CONFIG, LONGEST_WAIT_S, Database

pytestmark = pytest.mark.slow

T = TypeVar("T")

INSERT = "INSERT INTO scratch VALUES (%(id)s, %(at_commit)s)"
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def inserting(number: int, at_commit: str = "", *, before: str = "SELECT 1") -> Callable[[Session], int]:
    """Make an act that asks something in a round trip of its own, then inserts a row and commits it."""

    def insert(session: Session) -> int:
        with pipelined(session) as pipe:
            pipe.send(before, {})
        with committed(session) as pipe:
            pipe.send(INSERT, {"id": number, "at_commit": at_commit})
        return threading.get_ident()

    return insert


def sent(session: Session, statement: str) -> tuple[Any, ...]:
    with pipelined(session) as pipe:
        cursor = pipe.send(statement, {})
    row = cursor.fetchone()
    assert row is not None
    return row


Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop])
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """Run coroutines on a loop of Python's, and on one as a worker has."""
    with asyncio.Runner(loop_factory=request.param) as runner:
        yield runner.run


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture
def async_executor(database: Database, threads: ThreadPoolExecutor, run: Run) -> AsyncExecutor:
    """One that keeps a connection at most, and has it."""
    async_executor = AsyncExecutor(database.engine(), threads=threads, most=1)
    run(opened(async_executor))
    return async_executor


async def opened(async_executor: AsyncExecutor) -> None:
    """Have a connection opened: whoever comes first needs a thread."""
    with pytest.raises(NeedsThread):
        await async_executor.run(inserting(0))
    await until(lambda: bool(async_executor._idle))


async def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST_WAIT_S
    while not is_so():
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


def test_an_act_is_committed_by_the_loop_itself_while_others_run(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        database.owner.execute("SELECT pg_advisory_lock(1)")
        acting = asyncio.ensure_future(async_executor.run(inserting(1, before="SELECT pg_advisory_xact_lock(1)")))
        await until(lambda: bool(database.owner.execute(WAITING).rowcount))
        assert not acting.done()
        database.owner.execute("SELECT pg_advisory_unlock(1)")
        assert await acting == threading.get_ident()

    run(play())
    assert database.ids() == [1]


def test_more_than_a_socket_takes_at_once_is_sent(database: Database, async_executor: AsyncExecutor, run: Run) -> None:
    def insert(session: Session) -> None:
        with committed(session) as pipe:
            for number in range(20_000):
                pipe.send(INSERT, {"id": number, "at_commit": "x" * 100})

    run(async_executor.run(insert))
    assert len(database.ids()) == 20_000


def test_what_an_act_asks_after_its_commit_leaves_no_transaction_open(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    def insert_and_ask(session: Session) -> int:
        inserting(1)(session)
        return int(sent(session, "SELECT count(*) FROM scratch")[0])

    async def play() -> None:
        assert await async_executor.run(insert_and_ask) == 1
        assert database.owner.execute(f"{SESSIONS} AND state = 'idle'").fetchone() == (1,)

    run(play())


def test_an_act_that_fails_writes_nothing_and_needs_a_thread(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    def insert_and_fail(session: Session) -> None:
        sent(session, "INSERT INTO scratch VALUES (1) RETURNING id")
        message = "made up"
        raise ValueError(message)

    async def play() -> None:
        with pytest.raises(NeedsThread):
            await async_executor.run(insert_and_fail)
        await until(lambda: bool(async_executor._idle))
        await async_executor.run(inserting(2))

    run(play())
    assert database.ids() == [2]


def test_what_would_wait_for_the_database_in_another_way_needs_a_thread(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        with pytest.raises(NeedsThread):
            await async_executor.run(lambda session: session.execute(text("INSERT INTO scratch VALUES (1)")))
        await until(lambda: bool(async_executor._idle))

    run(play())
    assert database.ids() == []


def test_a_commit_that_is_refused_needs_a_thread(database: Database, async_executor: AsyncExecutor, run: Run) -> None:
    with pytest.raises(NeedsThread):
        run(async_executor.run(inserting(1, "refuse")))
    assert database.ids() == []


def test_a_lock_that_others_hold_for_too_long_is_told_as_such(
    database: Database, threads: ThreadPoolExecutor, run: Run
) -> None:
    async_executor = AsyncExecutor(database.engine(replace(CONFIG, lock_timeout_ms=50)), threads=threads, most=1)

    async def play() -> None:
        await opened(async_executor)
        with database.owner.transaction():
            database.owner.execute("LOCK TABLE scratch")
            with pytest.raises(HeldUp):
                await async_executor.run(inserting(1))
        await until(lambda: bool(async_executor._idle))
        await async_executor.run(inserting(2))

    run(play())
    assert database.ids() == [2]


def test_a_connection_that_ends_in_a_statement_was_not_committed_and_another_is_opened(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        ending = database.when_waiting("PgSleep", "pg_terminate_backend")
        with pytest.raises(NeedsThread):
            await async_executor.run(inserting(1, before="SELECT pg_sleep(60)"))
        ending.join()
        await until(lambda: async_executor._places._value == 1)
        await opened(async_executor)
        await async_executor.run(inserting(2))

    run(play())
    assert database.ids() == [2]


def test_a_connection_that_ends_in_its_commit_leaves_the_outcome_unknown(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        ending = database.when_waiting("PgSleep", "pg_terminate_backend")
        with pytest.raises(OutcomeUnknown):
            await async_executor.run(inserting(1, "sleep"))
        ending.join()
        await until(lambda: async_executor._places._value == 1)

    run(play())
    assert database.ids() == []


def test_a_connection_that_ended_while_nobody_used_it_is_not_used(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        database.terminate((await async_executor.run(lambda session: sent(session, "SELECT pg_backend_pid()")))[0])
        with pytest.raises(NeedsThread):
            await async_executor.run(inserting(1))
        await until(lambda: async_executor._places._value == 1)
        await opened(async_executor)
        await async_executor.run(inserting(2))

    run(play())
    assert database.ids() == [2]


def test_a_connection_is_used_for_so_long_and_no_longer(async_executor: AsyncExecutor, run: Run) -> None:
    async def play() -> None:
        old = async_executor._idle[0]
        async_executor._idle[0] = replace(old, opened_at=time.monotonic() - LONGEST_KEPT_S - 1)
        with pytest.raises(NeedsThread):
            await async_executor.run(inserting(1))
        await until(lambda: async_executor._places._value == 1)
        await opened(async_executor)
        assert async_executor._idle[0].session is not old.session

    run(play())


def test_an_act_that_is_stopped_is_not_committed_and_its_connection_not_used_again(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    async def play() -> None:
        acting = asyncio.ensure_future(async_executor.run(inserting(1, before="SELECT pg_sleep(60)")))
        await asyncio.sleep(0.1)
        acting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acting
        await until(lambda: async_executor._places._value == 1)
        await opened(async_executor)
        await async_executor.run(inserting(2))

    run(play())
    assert database.ids() == [2]


def test_no_more_connections_are_kept_than_may_be(database: Database, run: Run) -> None:
    may_open = threading.Event()

    async def play(async_executor: AsyncExecutor) -> None:
        needed = await asyncio.gather(*[async_executor.run(inserting(n)) for n in range(5)], return_exceptions=True)
        assert [type(outcome) for outcome in needed] == [NeedsThread] * 5
        may_open.set()
        await until(lambda: len(async_executor._idle) == 2)
        done = await asyncio.gather(*[async_executor.run(inserting(n)) for n in range(5)], return_exceptions=True)
        assert [type(outcome) for outcome in done] == [int, int, NeedsThread, NeedsThread, NeedsThread]

    with ThreadPoolExecutor(1) as thread:
        thread.submit(may_open.wait)  # None is opened before all have asked.
        run(play(AsyncExecutor(database.engine(), threads=thread, most=2)))


def test_without_a_database_it_needs_a_thread_each_time(
    database: Database, threads: ThreadPoolExecutor, run: Run
) -> None:
    nowhere = create_engine(CONFIG, database.url.replace("host=", "host=%2Fnowhere"))
    async_executor = AsyncExecutor(nowhere, threads=threads, most=1)

    async def play() -> None:
        for _ in range(3):
            with pytest.raises(NeedsThread):
                await async_executor.run(inserting(1))
            await until(lambda: async_executor._places._value == 1)

    run(play())


def test_connections_are_closed_when_nobody_has_them_any_more(
    database: Database, threads: ThreadPoolExecutor, run: Run
) -> None:
    async_executor = AsyncExecutor(database.engine(), threads=threads, most=1)
    run(opened(async_executor))
    assert database.owner.execute(SESSIONS).fetchone() == (1,)

    del async_executor
    gc.collect()
    run(until(lambda: database.owner.execute(SESSIONS).fetchone() == (0,)))


def test_a_commit_after_the_acts_own_that_fails_does_not_undo_it(
    database: Database, async_executor: AsyncExecutor, run: Run
) -> None:
    def commit_and_go_on(session: Session) -> None:
        inserting(1)(session)
        with pipelined(session) as pipe:
            pipe.send(INSERT, {"id": 2, "at_commit": "refuse"})

    with pytest.raises(OutcomeUnknown):
        run(async_executor.run(commit_and_go_on))
    assert database.ids() == [1]
