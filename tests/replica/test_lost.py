"""A standby that ends, or whose recovery is in conflict with a reading: the primary answers, and nobody is refused."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import event, text

from jackpot_service.config.settings import Config
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.reads import ReplicaBrokeOff
from jackpot_service.database.replica import Replica, ReplicaState
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.telemetry import trouble
from tests.faults.freezing import frozen_server
from tests.replica.worlds import (
    LONGEST_WAIT_S,
    Opening,
    database_errors,
    outcomes,
    play,
    reads_of,
    replica_of,
    since,
    state,
    tables,
    wait_until,
    wait_until_in_use,
)
from tests.support.drivers import connection_of
from tests.support.standby import Standby
from tests.support.world import World

T = TypeVar("T")

PATIENCE_MS: Final = 1000 * LONGEST_WAIT_S

_IS_REPLICA = text("SELECT pg_is_in_recovery()")
_ROUNDS = text("SELECT count(*) FROM rounds")

# It goes on for as long as it may, at a replica only.
_LONG_THERE = text(
    "SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END, count(*) FROM rounds"
)

_FULL_THERE = text(
    """
    DO $$ BEGIN
        IF pg_is_in_recovery() THEN RAISE EXCEPTION 'no room for a temporary file' USING ERRCODE = '53100'; END IF;
    END $$
    """
)


@pytest.fixture
def patient(opening: Opening) -> World:
    """A world whose statements wait for as long as a test needs to lock, to look and to kill."""
    world = opening(statement_timeout_ms=PATIENCE_MS, lock_timeout_ms=PATIENCE_MS, request_timeout_s=PATIENCE_MS / 1000)
    world.open(base_amount="1000")
    return world


@contextmanager
def killed(standby: Standby) -> Iterator[None]:
    """Have it dead in the block."""
    standby.kill()
    try:
        yield
    finally:
        standby.start()


@contextmanager
def locked(standby: Standby, database: str, table: str) -> Iterator[None]:
    """Lock a table of the primary as a migration would; its standby replays the lock."""
    with psycopg.connect(standby.primary.conninfo(database)) as owner:
        owner.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        owner.execute("SELECT pg_switch_wal()")  # So that what was written by now is sent.
        yield
        owner.rollback()


def waits(standby: Standby, database: str, event: str) -> bool:
    """Whether somebody waits at the standby in a database, for a lock or asleep."""
    question = "SELECT FROM pg_stat_activity WHERE datname = %s AND (wait_event_type = %s OR wait_event = %s)"
    with standby.connected() as watcher:
        return watcher.execute(question, [database, event, event]).rowcount > 0


def test_the_primary_answers_from_the_moment_in_which_the_replica_is_dead(world: World, standby: Standby) -> None:
    assert "Replica-Age" in world.get("/v1/tables").headers
    with killed(standby):
        for _ in range(3):
            listed = world.get("/v1/tables")
            assert tables(listed) == ["T1"]
            assert "Replica-Age" not in listed.headers
        wait_until(lambda: state(world) is ReplicaState.AWAY)
        before = outcomes()
        assert tables(world.get("/v1/tables")) == ["T1"]
        assert since(before) == {"away": 1}
        ready = world.call("GET", "/readyz", key=None).ok()
        assert ready["replica"] == {"state": "away", "lag_s": None}
        assert "jackpot_replica_lag_seconds" not in world.get("/metrics").text

    wait_until_in_use(world)
    before = outcomes()
    assert "Replica-Age" in world.get("/v1/tables").headers  # By no connection from before.
    assert since(before) == {"answered": 1}


def killed_meanwhile(standby: Standby, database: str, ask: Callable[[], T]) -> T:
    """Kill the standby while something that reads awards waits there for a lock; return what is answered."""
    with ThreadPoolExecutor(1) as threads:
        with locked(standby, database, "awards"):
            asking = threads.submit(ask)
            wait_until(lambda: waits(standby, database, "Lock"))
            standby.kill()
        try:
            return asking.result()
        finally:
            standby.start()


def test_a_report_that_the_replica_breaks_off_is_made_again_at_the_primary(
    patient: World, standby: Standby, database: str
) -> None:
    """Nothing of it was answered yet."""
    play(patient)
    end = f"{patient.clock():%Y-%m-%dT%H:%M:%S.000000Z}"
    ask = partial(patient.get, f"/v1/reports/awards?as_of={end}", role=Role.FINANCE)
    before_it = ask().ok()["sections"]
    standby.catch_up()
    before = outcomes()
    answer = killed_meanwhile(standby, database, ask)

    assert answer.ok()["sections"] == before_it
    assert "Replica-Age" not in answer.headers
    assert since(before)["broken-off"] >= 1
    wait_until_in_use(patient)


def test_a_question_that_recovery_cancels_is_put_to_the_primary(
    patient: World, standby: Standby, database: str
) -> None:
    """PostgreSQL says 40001, `canceling statement due to conflict with recovery`."""
    reads, before = reads_of(patient), outcomes()
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(reads.read, lambda session: session.execute(_LONG_THERE).one())
        wait_until(lambda: waits(standby, database, "PgSleep"))
        with locked(standby, database, "rounds"):
            wait_until(lambda: not waits(standby, database, "PgSleep"))
        reading = asking.result()

    assert (reading.value[0], reading.fresh_at) == (False, None)
    assert since(before) == {"broken-off": 1}
    log = (standby.cluster.directory / "server.log").read_text()
    assert f"{database} ERROR:  canceling statement due to conflict with recovery" in log


def test_a_snapshot_that_recovery_ends_is_a_retryable_problem(world: World, standby: Standby, database: str) -> None:
    reads = reads_of(world)

    def read_on() -> None:
        with reads.snapshot() as reading:
            session = reading.value
            assert (session.scalar(_IS_REPLICA), session.scalar(_ROUNDS)) == (True, 0)
            with locked(standby, database, "rounds"):
                wait_until(lambda: has_ended(standby, session))
            session.scalar(_ROUNDS)

    with pytest.raises(ReplicaBrokeOff) as raised:
        read_on()
    assert (raised.value.code, raised.value.retry_after_s) == ("busy", 1)
    wait_until_in_use(world)
    with reads.snapshot() as reading:  # The pool has no connection left from then.
        assert reading.value.scalar(_IS_REPLICA) is True


def count_connections(engine: sqlalchemy.Engine) -> list[int]:
    """Return a list that gets an element with each connection that the engine opens."""
    opened: list[int] = []
    event.listen(engine, "connect", lambda *_: opened.append(1))
    return opened


def test_a_replica_that_hangs_holds_no_reading_up_for_as_long_as_a_report_may_take(
    world: World, standby: Standby
) -> None:
    reads = reads_of(world)

    def is_replica() -> object:
        with reads.snapshot(longest_s=10 * LONGEST_WAIT_S) as reading:
            return reading.value.scalar(_IS_REPLICA)

    assert is_replica() is True  # So there is a connection that nobody knows to lead to silence.
    with ThreadPoolExecutor(2) as threads, frozen_server(standby.cluster) as thaw:
        asking, listing = threads.submit(is_replica), threads.submit(world.get, "/v1/tables")
        try:
            assert asking.result(LONGEST_WAIT_S) is False
            assert tables(listing.result(LONGEST_WAIT_S)) == ["T1"]
        finally:
            thaw()
    wait_until_in_use(world)


def test_a_full_disk_of_the_replica_stops_no_bets(world: World) -> None:
    """It is noted as the replica's, and nowhere as the primary's: its service stays in balance."""

    def is_replica_after_room(session: Session) -> bool:
        session.execute(_FULL_THERE)
        return bool(session.scalar(_IS_REPLICA))

    before, errors = outcomes(), database_errors()
    reading = reads_of(world).read(is_replica_after_room)

    assert (reading.value, reading.fresh_at) == (False, None)
    assert since(before) == {"broken-off": 1}
    assert world.call("GET", "/readyz", key=None).ok()["status"] == "ready"
    assert not trouble.has_no_room()
    assert database_errors() == errors


def has_ended(standby: Standby, session: Session) -> bool:
    """Whether the standby has ended a session."""
    pid = connection_of(session).info.backend_pid
    with standby.connected() as watcher:
        return watcher.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [pid]).rowcount == 0


def test_a_report_as_a_job_is_read_at_the_replica_and_after_its_death_at_the_primary(
    patient: World, standby: Standby, database: str
) -> None:
    play(patient)
    parameters = {"name": "awards", "format": "csv", "section": "awards"}
    jobs = [patient.ask_job(parameters, kind="report", request_id=f"job{number}").ok(201) for number in range(2)]
    standby.catch_up()
    before, runner = outcomes(), patient.runner(replica=replica_of(patient))
    assert runner.run_next()
    assert since(before) == {"answered": 1}

    with pytest.raises(ReplicaBrokeOff):
        killed_meanwhile(standby, database, runner.run_next)
    with patient.engine.begin() as session:
        session.execute(text("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE state = 'running'"))
    assert runner.run_next()
    files = [patient.get(f"/v1/jobs/{job['job_id']}/file") for job in jobs]
    assert [file.status for file in files] == [200, 200]
    assert files[0].text == files[1].text
    wait_until_in_use(patient)


def test_what_is_no_standby_of_this_database_is_not_read(standby: Standby, database: str, database_url: str) -> None:
    """The primary itself, another cluster's, another database of it, a login that could do more than the service's."""
    of_replica, of_primary = standby.cluster.service_url(database), standby.primary.service_url(database)
    for replica_url, primary_url in (
        (of_primary, of_primary),
        (of_replica, database_url),
        (standby.cluster.service_url(embedded.DATABASE), of_primary),
        (standby.cluster.url(database), of_primary),
    ):
        replica = Replica.configured(replace(Config(), replica_url=replica_url), primary_url)
        assert replica is not None
        watched = partial(lambda looked: looked.last.state is ReplicaState.FOREIGN, replica)
        wait_until(watched)
        replica.close()


def test_a_standby_of_one_of_several_machines_is_not_read(standby: Standby, database: str) -> None:
    """Its log, and its position, are of the coordinator alone."""
    with psycopg.connect(standby.primary.conninfo(database), autocommit=True) as administrator:
        administrator.execute("CREATE TABLE pg_dist_partition AS SELECT 'entries'::regclass AS logicalrelid")
        administrator.execute("GRANT SELECT ON pg_dist_partition TO jackpot_app")
    standby.catch_up()
    config = replace(Config(), replica_url=standby.cluster.service_url(database))
    replica = Replica.configured(config, standby.primary.service_url(database))
    assert replica is not None
    wait_until(lambda: replica.last.state is ReplicaState.FOREIGN)
    replica.close()


@pytest.mark.parametrize("place", ["another cluster", "another database", "a primary"])
def test_each_reading_finds_out_itself_whether_it_is_at_a_standby_of_this_database(
    world: World, standby: Standby, database: str, database_url: str, place: str
) -> None:
    """A URL of several hosts leads the watch to this standby, and a reader perhaps to what is none."""
    elsewhere = {
        "another cluster": database_url,
        "another database": standby.cluster.service_url(embedded.DATABASE),
        "a primary": standby.primary.service_url(database),
    }[place]
    replica, before = replica_of(world), outcomes()
    here, replica.engine = replica.engine, create_engine(world.config, elsewhere)
    opened = count_connections(replica.engine)
    try:
        for _ in range(2):
            listed = world.get("/v1/tables")
            assert tables(listed) == ["T1"]
            assert "Replica-Age" not in listed.headers
        with reads_of(world).snapshot() as reading:
            assert (reading.value.scalar(_IS_REPLICA), reading.fresh_at) == (False, None)
    finally:
        replica.engine.dispose()
        replica.engine = here
    assert since(before) == {"foreign": 3}
    assert opened == [1, 1, 1]  # Nobody goes on by a connection that leads elsewhere: the next may lead here.
