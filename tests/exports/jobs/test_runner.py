"""A job is done by one runner at a time, and its file is the same however often the doing was interrupted."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, text

from jackpot_service.database import snapshots, transactions
from jackpot_service.database.failures import Busy
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.principals import Role
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs import requests, runner
from jackpot_service.exports.jobs.runner import MOST_ATTEMPTS
from jackpot_service.exports.journal import journal_export, pieces
from jackpot_service.records import jobs
from jackpot_service.records import jobs as records
from jackpot_service.records.jobs import Lease
from jackpot_service.reports.reconciling import Days
from tests.exports.jobs import kinds
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

SOMEBODY = Lease("somebody", timedelta(seconds=1))
ASKED = {"jackpot_id": "j1", "format": "beancount"}


@pytest.fixture
def played(world: World) -> World:
    """A jackpot with enough entries for a dozen small pieces, and a job to export them."""
    world.open(base_amount="1000", stripes=3)
    for number in range(40):
        world.bet(bet(currency="GBP" if number % 3 else "EUR"), round_id=f"r{number}")
    world.ask_job(ASKED).ok(201)
    return world


def running(world: World) -> str:
    """The request whose job is running."""
    (listed_job,) = world.get("/v1/jobs?state=running").ok()["items"]
    return str(listed_job["request_id"])


def job(world: World) -> Body:
    (listed_job,) = world.get("/v1/jobs").ok()["items"]
    return dict(listed_job)


def written(world: World) -> bytes:
    """The file of the one job, as it is by now."""
    chunks = world.books.rows("SELECT content FROM job_chunks ORDER BY number")
    return b"".join(row["content"] for row in chunks)


def whole(world: World) -> bytes:
    """What its file has to be."""
    with snapshots.reading(world.engine) as session:
        export = journal_export(session, "j1", FORMS["beancount"], positions=job(world)["parameters"]["positions"])
        return b"".join(piece.content for piece in pieces(session, export))


def change(world: World, statement: str) -> None:
    with world.engine.begin() as session:
        session.execute(text(statement))


def expire(world: World) -> None:
    change(world, "UPDATE jobs SET lease_until = now() - interval '1 second'")


def test_a_job_is_done_in_chunks_that_count_what_is_done(played: World) -> None:
    entries = job(played)["progress"]["total"]
    seen = []

    assert played.runner(kinds=kinds.interrupted(3, lambda: seen.append(job(played)))).run_next()

    (middle,) = seen
    assert (middle["state"], middle["ended_at"], middle["file"]) == ("running", None, None)
    assert 0 < middle["progress"]["done"] < middle["progress"]["total"] == entries
    assert middle["progress"]["rate_per_second"] > 0
    assert middle["progress"]["remaining_seconds"] >= 0
    done = job(played)
    assert (done["state"], done["error"], done["cancelled_by"]) == ("done", None, None)
    assert done["progress"]["done"] == entries
    assert done["file"]["size"] == len(written(played))
    assert written(played) == whole(played)
    assert played.books.value("SELECT count(*) FROM job_chunks") > 5
    assert not played.runner().run_next()


def test_what_is_booked_after_a_job_was_asked_for_is_not_in_its_file(played: World) -> None:
    before = whole(played)
    played.bet(bet(), round_id="later")

    played.runner().run_next()

    assert written(played) == before


def test_whoever_asked_first_is_served_first(played: World) -> None:
    for number in range(3):
        played.ask_job(ASKED, request_id=f"later-{number}").ok(201)
    served = []

    while played.runner(kinds=kinds.interrupted(0, lambda: served.append(running(played)))).run_next():
        pass

    assert served == ["job", "later-0", "later-1", "later-2"]


@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_runner_that_is_told_to_stop_leaves_its_job_to_the_next(played: World, after: int) -> None:
    stop = threading.Event()
    assert played.runner(kinds=kinds.interrupted(after, stop.set), stop=stop).run_next()
    left = job(played)
    assert (left["state"], left["progress"]["attempts"]) == ("queued", 0)
    assert played.books.value("SELECT count(*) FROM job_chunks") == after + 1

    assert played.runner(kinds=kinds.small()).run_next()

    assert job(played)["state"] == "done"
    assert written(played) == whole(played)


def test_a_job_whose_runner_was_lost_waits_for_its_lease_and_is_then_anothers(played: World) -> None:
    lost = played.runner(kinds=kinds.interrupted(2, kinds.raising(SystemExit())))
    with pytest.raises(SystemExit):
        lost.run_next()

    other = played.runner(kinds=kinds.small())
    assert not other.run_next()
    expire(played)
    assert other.run_next()

    assert job(played)["state"] == "done"
    assert written(played) == whole(played)


def test_a_runner_that_was_too_slow_writes_nothing_more(played: World) -> None:
    def take_over() -> None:
        expire(played)
        assert played.runner(kinds=kinds.small()).run_next()
        assert job(played)["state"] == "done"

    assert played.runner(kinds=kinds.interrupted(2, take_over)).run_next()

    assert job(played)["state"] == "done"
    assert written(played) == whole(played)


def test_a_lease_is_renewed_while_a_piece_takes_longer_than_it(played: World) -> None:
    until, length = "SELECT lease_until FROM jobs", timedelta(seconds=2)

    def take_long() -> None:
        begun, patience = played.books.value(until), time.monotonic() + 20
        while played.books.value(until) < begun + length:
            assert time.monotonic() < patience, "the lease is not renewed"
            assert not played.runner().run_next()
            time.sleep(0.02)

    lease = Lease("slow", length)
    assert played.runner(kinds=kinds.interrupted(1, take_long), lease=lease).run_next()

    assert job(played)["state"] == "done"


def test_a_job_that_is_cancelled_while_it_runs_writes_nothing_more(played: World) -> None:
    def cancel() -> None:
        key = played.key(Role.AUDITOR)
        cancelled = played.post(f"/v1/jobs/{job(played)['job_id']}/cancellation", {}, key=key).ok()
        assert (cancelled["state"], cancelled["cancelled_by"]) == ("cancelled", "a auditor")

    assert played.runner(kinds=kinds.interrupted(2, cancel)).run_next()

    assert job(played)["state"] == "cancelled"
    assert played.books.value("SELECT count(*) FROM job_chunks") == 2
    assert played.runner().remove_some()
    assert played.books.value("SELECT count(*) FROM job_chunks") == 0
    assert not played.runner().remove_some()
    assert not played.runner().run_next()


def test_what_the_ledger_refuses_while_a_job_runs_is_its_error(played: World) -> None:
    refusal = NotFound("It is gone.")

    assert played.runner(kinds=kinds.interrupted(1, kinds.raising(refusal))).run_next()

    failed = job(played)
    assert (failed["state"], failed["error"], failed["file"]) == ("failed", "not-found: It is gone.", None)
    assert not played.runner().run_next()


def test_a_bug_fails_its_job_and_not_the_runner(played: World) -> None:
    assert played.runner(kinds=kinds.interrupted(1, kinds.raising(ZeroDivisionError("secret")))).run_next()

    assert job(played)["error"] == "internal-error: ZeroDivisionError"


def test_a_job_that_ends_every_runner_is_given_up(played: World) -> None:
    deadly = kinds.interrupted(0, kinds.raising(SystemExit()))
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            played.runner(kinds=deadly).run_next()
        expire(played)

    assert played.runner(kinds=deadly).run_next()

    assert job(played)["state"] == "failed"
    assert job(played)["error"].startswith("given-up: ")


def test_attempts_that_get_further_are_not_counted(played: World) -> None:
    for _ in range(MOST_ATTEMPTS + 1):
        with pytest.raises(SystemExit):
            played.runner(kinds=kinds.interrupted(1, kinds.raising(SystemExit()))).run_next()
        expire(played)

    assert played.runner(kinds=kinds.small()).run_next()

    assert written(played) == whole(played)


def test_a_runner_without_a_database_takes_its_job_up_again(played: World) -> None:
    times = []

    def be_away() -> None:
        times.append(1)
        if len(times) == 1:
            raise Busy("The database is away.")

    busy = played.runner(kinds=kinds.interrupted(2, be_away))
    with pytest.raises(Busy):
        busy.run_next()
    assert job(played)["state"] == "running"

    assert busy.run_next()

    assert job(played)["state"] == "done"
    assert written(played) == whole(played)


def test_a_kind_that_cannot_go_on_begins_at_the_beginning(played: World) -> None:
    deadly = kinds.without_position(kinds.interrupted(3, kinds.raising(SystemExit())))
    with pytest.raises(SystemExit):
        played.runner(kinds=deadly).run_next()
    assert played.books.value("SELECT count(*) FROM job_chunks") == 3
    expire(played)

    assert played.runner(kinds=kinds.without_position(kinds.small())).run_next()

    assert written(played) == whole(played)
    assert job(played)["file"]["size"] == len(whole(played))


def test_a_runner_passes_over_kinds_that_it_does_not_know(played: World) -> None:
    assert not played.runner(kinds={}).run_next()

    assert job(played)["state"] == "queued"


def test_a_runner_at_work_does_jobs_removes_files_and_reconciles_days_until_it_is_told_to_stop(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "IDLE_S", 0.01)
    played.clock.advance(timedelta(days=2))
    stop = threading.Event()
    days = Days(played.engine, stop, clock=played.clock)
    at_work = played.runner(kept_for=timedelta(0), stop=stop, idle=days.reconcile_next)
    thread = threading.Thread(target=at_work.work)
    thread.start()
    until = time.monotonic() + 20
    waiting = "SELECT count(*) = 0 OR EXISTS (SELECT FROM job_chunks) FROM reconciled_days"
    while job(played)["state"] != "done" or played.books.value(waiting):
        assert time.monotonic() < until
        time.sleep(0.02)

    at_work.stop.set()
    thread.join(20)

    assert not thread.is_alive()


def test_a_file_is_kept_for_its_time_and_then_removed_a_part_at_a_time(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "REMOVED_AT_ONCE", 4)
    played.runner(kinds=kinds.small()).run_next()
    chunks = played.books.value("SELECT count(*) FROM job_chunks")
    change(played, "UPDATE jobs SET ended_at = ended_at - interval '6 days 23 hours'")
    assert not played.runner().remove_some()
    change(played, "UPDATE jobs SET ended_at = ended_at - interval '1 hour'")

    assert played.runner().remove_some()
    assert played.books.value("SELECT count(*) FROM job_chunks") == chunks - 4
    assert job(played)["file"] is None
    while played.runner().remove_some():
        pass

    assert played.books.value("SELECT count(*) FROM job_chunks") == 0
    assert job(played)["state"] == "done"


def test_a_chunk_that_is_not_what_was_written_is_not_handed_out(played: World) -> None:
    played.runner(kinds=kinds.small()).run_next()
    done = played.transact(lambda session: records.find(session, job(played)["job_id"]))
    assert done is not None
    change(played, "DELETE FROM job_chunks WHERE number = 3")

    file_pieces = requests.file_of(played.engine, done)

    assert len([next(file_pieces), next(file_pieces)]) == 2
    with pytest.raises(records.ChunkDamaged):
        next(file_pieces)


@pytest.mark.parametrize(
    ("act", "index"),
    [
        (lambda session: jobs.take(session, SOMEBODY, kinds=("journal",)), "ix_jobs_to_do"),
        (lambda session: jobs.remove_some(session, kept_for=timedelta(days=1)), "ix_jobs_to_remove"),
    ],
)
def test_what_is_to_be_done_or_removed_is_found_by_an_index(
    world: World, act: Callable[[transactions.Session], object], index: str
) -> None:
    sent_statements: list[tuple[str, Any]] = []
    with world.engine.connect() as session:
        session.begin()

        @event.listens_for(session, "before_cursor_execute", named=True)
        def note(**sent: Any) -> None:
            sent_statements.append((sent["statement"], sent["parameters"]))

        act(session)
        event.remove(session, "before_cursor_execute", note)
        ((statement, parameters),) = sent_statements
        plan = "\n".join(line for (line,) in session.exec_driver_sql(f"EXPLAIN {statement}", parameters))

    assert index in plan
    assert "Seq Scan" not in plan
