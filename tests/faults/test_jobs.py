"""Runners that are killed, or lose their database, midway: the file is to the byte what an uninterrupted run makes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import orjson
import pytest
import sqlalchemy

from jackpot_service.database import embedded
from jackpot_service.database.failures import Busy
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import transact
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.exports.jobs import requests
from jackpot_service.exports.jobs.requests import KINDS
from jackpot_service.records import jobs as records
from jackpot_service.server import job_supervisor
from jackpot_service.server.job_supervisor import job_runner
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.exports.jobs import kinds
from tests.faults.service import Service
from tests.races import books, scene
from tests.races.test_jobs import ask, play, require_whole, runner

pytestmark = pytest.mark.long

LONGEST_WAIT_S = 60

# So many entries that their file has a dozen chunks, without the time it would take to bet them. Their chain is none;
# but nobody looks at it here.
MANY_ENTRIES = """
WITH more AS (
    INSERT INTO entries
    SELECT e.jackpot_id, e.stripe_no, e.seq + number, kind, principal, NULL, NULL, received_at, e.booked_at, digest,
           e.head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures
    FROM stripes s JOIN entries e USING (jackpot_id, stripe_no, seq), generate_series(1, 5000) AS number
    WHERE s.jackpot_id = 'live'
)
UPDATE stripes SET seq = seq + 5000 WHERE jackpot_id = 'live'
"""

TIMES = 200

# So many bets that their file has four chunks.
MANY_BETS = """
INSERT INTO bets
SELECT jackpot_id, round_key, bet_id || number, step, player_id, hand, currency, stake_minor, occurred_at
FROM bets, generate_series(1, %(times)s) AS number
"""

# A chunk is not written for as long as another session holds the lock of its number.
CHUNKS_WAIT = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(NEW.number); RETURN NEW; END $$;
CREATE TRIGGER wait BEFORE INSERT ON job_chunks FOR EACH ROW EXECUTE FUNCTION wait();
"""


PATIENT = {"JACKPOT_LOCK_TIMEOUT_MS": "60000", "JACKPOT_STATEMENT_TIMEOUT_MS": "60000"}
"""For who waits to be killed, however long that takes."""


def job(engine: sqlalchemy.Engine, job_id: str) -> Job:
    job_ = transact(engine, lambda session: records.find(session, job_id))
    assert job_ is not None
    return job_


def wait_until(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_WAIT_S
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def as_owner(durable: embedded.Cluster, *statements: str, **values: int) -> None:
    owner = sqlalchemy.create_engine(durable.url(), poolclass=sqlalchemy.NullPool)
    with owner.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, values or None)


@contextmanager
def none_beyond(engine: sqlalchemy.Engine, chunks: int) -> Iterator[None]:
    """Let no file have more than so many chunks, where `CHUNKS_WAIT`: who is to write a further one waits."""
    with engine.begin() as holder:
        holder.exec_driver_sql("SELECT pg_advisory_xact_lock(%(number)s)", {"number": chunks + 1})
        yield


@contextmanager
def at_work(url: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Have `jackpot jobs worker` at work."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "jackpot_service.cli", "jobs", "worker"],
            env={**os.environ, **PATIENT, "JACKPOT_DATABASE_URL": url},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_runner_killed_midway_is_followed_by_another_that_makes_the_same_file(
    durable: embedded.Cluster, engine: sqlalchemy.Engine, tmp_path: Path
) -> None:
    scene.open_house(engine)
    play(engine)
    as_owner(durable, MANY_ENTRIES, CHUNKS_WAIT)
    job_id = ask(engine, "killed")
    uninterrupted = ask(engine, "uninterrupted")

    for most in (3, 6):
        with none_beyond(engine, most), at_work(durable.service_url(), tmp_path / "log") as process:
            wait_until(lambda most=most: job(engine, job_id).chunks == most)  # type: ignore[misc]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert job(engine, job_id).state is JobState.RUNNING
        with engine.begin() as session:  # What a minute without a word does.
            session.exec_driver_sql("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")
    with at_work(durable.service_url(), tmp_path / "log") as process:
        wait_until(lambda: job(engine, uninterrupted).is_over)
        process.terminate()
        assert process.wait(LONGEST_WAIT_S) == 0

    require_whole(engine, job_id)
    chunks = "SELECT number, sha256 FROM job_chunks WHERE job_id = :job_id ORDER BY number"
    assert books.ask(engine, chunks, job_id=job_id) == books.ask(engine, chunks, job_id=uninterrupted)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_runner_killed_midway_through_a_report_is_followed_by_another_that_makes_the_same_file(
    durable: embedded.Cluster, engine: sqlalchemy.Engine, tmp_path: Path, form: str
) -> None:
    scene.open_house(engine)
    play(engine)
    as_owner(durable, CHUNKS_WAIT)
    as_owner(durable, MANY_BETS, times=TIMES)
    parameters = {"name": "rounds", "section": "bets", "format": form}
    job_id = ask(engine, "killed", "report", parameters)
    scene.bet(engine, "T1", "later", scene.euro("b"))

    def has_come_so_far(attempt: int) -> bool:
        killed = job(engine, job_id)
        return (killed.attempts, killed.chunks) == (attempt, 2)

    for attempt in (1, 2):
        with none_beyond(engine, 2), at_work(durable.service_url(), tmp_path / "log") as process:
            wait_until(partial(has_come_so_far, attempt))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert job(engine, job_id).state is JobState.RUNNING
        assert job(engine, job_id).done > 0
        with engine.begin() as session:  # What a minute without a word does.
            session.exec_driver_sql("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")
    with at_work(durable.service_url(), tmp_path / "log"):
        wait_until(lambda: job(engine, job_id).is_over)

    done = job(engine, job_id)
    assert (done.state, done.done) == (JobState.DONE, 30 * (1 + TIMES))
    whole = b"".join(piece.content for piece in KINDS["report"].pieces(Reads(engine), done.parameters, None))
    assert b"".join(requests.file_of(engine, done)) == whole


def test_a_runner_whose_database_was_away_goes_on_after_the_last_chunk(
    durable: embedded.Cluster, engine: sqlalchemy.Engine
) -> None:
    scene.open_house(engine)
    play(engine)
    job_id = ask(engine, "away")
    stops: list[int] = []

    def stop() -> None:
        if not stops:
            stops.append(job(engine, job_id).chunks)
            embedded.stop(durable, mode="immediate")

    interrupted = runner(engine, kinds.interrupted(3, stop))
    with pytest.raises(Busy):
        interrupted.run_next()
    with pytest.raises(Busy):
        interrupted.run_next()
    embedded.start(durable)
    assert (stops, job(engine, job_id).chunks, job(engine, job_id).state) == ([3], 3, JobState.RUNNING)

    assert interrupted.run_next()

    require_whole(engine, job_id)


def test_a_server_does_jobs_beside_its_calls(service: Service, engine: sqlalchemy.Engine) -> None:
    scene.open_house(engine)
    play(engine)
    act = Act(SYSTEM_OPERATOR, scene.now())
    key = transact(engine, lambda session: create_key(session, act, Principal("Ada", Role.AUDITOR))).whole
    headers = {"Authorization": f"Bearer {key}"}
    jobs = f"{service.base_url}/v1/jobs"
    with httpx.Client(base_url=jobs, headers=headers, trust_env=False, timeout=LONGEST_WAIT_S) as client:
        parameters = {"jackpot_id": "live", "format": "hledger"}
        listed_job = client.post("", json={"request_id": "q1", "kind": "journal", "parameters": parameters}).json()
        wait_until(lambda: client.get(f"/{listed_job['job_id']}").json()["state"] == "done")
        file = client.get(f"/{listed_job['job_id']}/file")

    assert file.headers["Content-Type"] == "text/plain; charset=utf-8"
    done = job(engine, listed_job["job_id"])
    assert file.content == b"".join(requests.file_of(engine, done))
    assert len(file.content) == done.size == int(file.headers["Content-Length"])


def test_a_runner_beside_is_started_again_and_ends_with_what_it_is_beside_of(
    engine: sqlalchemy.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_supervisor, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setenv("JACKPOT_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    scene.open_house(engine)
    play(engine)

    with job_runner():
        wait_until(lambda: len(runners()) == 1)
        (first,) = runners()
        os.kill(first, signal.SIGKILL)
        job_id = ask(engine, "after-the-kill")
        wait_until(lambda: job(engine, job_id).state is JobState.DONE)
        (second,) = runners()
        assert second != first
        another = ask(engine, "another")
        wait_until(lambda: job(engine, another).state is JobState.DONE)
        assert runners() == [second]

    assert runners() == []
    require_whole(engine, job_id)


def test_a_runner_beside_ends_when_its_standard_input_does(engine: sqlalchemy.Engine) -> None:
    environment = {**os.environ, "JACKPOT_DATABASE_URL": engine.url.render_as_string(hide_password=False)}
    process = subprocess.Popen(job_supervisor.COMMAND, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None

    process.stdin.close()

    assert process.wait(LONGEST_WAIT_S) == 0


def test_a_runner_beside_that_is_told_to_end_does_so_in_good_order(engine: sqlalchemy.Engine) -> None:
    scene.open_house(engine)
    play(engine)
    environment = {**os.environ, "JACKPOT_DATABASE_URL": engine.url.render_as_string(hide_password=False)}
    process = subprocess.Popen(job_supervisor.COMMAND, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    job_id = ask(engine, "before-the-end")
    wait_until(lambda: job(engine, job_id).state is JobState.DONE)

    process.terminate()  # Its standard input stays open: whoever ends it so is there himself.

    with process:
        assert process.wait(LONGEST_WAIT_S) == 0
        assert process.stderr is not None
        assert [orjson.loads(line)["event"] for line in process.stderr] == ["job-done"]


def runners() -> list[int]:
    """The runners among the processes that this one has started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for path in children for pid in path.read_text().split()]
    return [pid for pid in pids if b"jobs\0worker\0--supervised" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
