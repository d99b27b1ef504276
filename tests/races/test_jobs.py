"""Runners and askers at once: a job is asked for once, and done by exactly one of those that would."""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import count

import pytest
import sqlalchemy

from jackpot_service.database.snapshots import reading
from jackpot_service.database.transactions import transact
from jackpot_service.domain.jobs import JobState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs import requests
from jackpot_service.exports.jobs.kinds import Requester
from jackpot_service.exports.jobs.requests import KINDS, CreateJob
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.exports.journal import journal_export, pieces
from jackpot_service.records import jobs as records
from jackpot_service.reports.reconciling import reconcile_next
from tests.exports.jobs import kinds
from tests.exports.jobs.kinds import Kinds
from tests.races import books, scene
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long

AUDITOR = Principal("Ada", Role.AUDITOR)
RUNNERS = 4
JOBS = 6
DAYS = 5


JOURNAL = {"jackpot_id": "live", "format": "beancount"}


def ask(
    engine: sqlalchemy.Engine, request_id: str, kind: str = "journal", parameters: Mapping[str, object] = JOURNAL
) -> str:
    requester = Requester(AUDITOR, scene.now(), timedelta(minutes=15))
    return requests.create(engine, CreateJob(requester, request_id, KINDS[kind], parameters)).job.job_id


def runner(engine: sqlalchemy.Engine, doing: Kinds | None = None) -> Runner:
    """One who does journals in small pieces, unless stated otherwise."""
    return Runner(engine, timedelta(days=7), kinds=doing or kinds.small())


def ask_at_once(racer: Racer) -> str:
    racer.meet()
    return ask(racer.engine, "the-same")


def do_at_once(racer: Racer) -> int:
    """Count the jobs that this runner does, until there are none."""
    racer.meet()
    done = 0
    while runner(racer.engine).run_next():
        done += 1
    return done


def bet_at_once(racer: Racer, number: int) -> None:
    racer.meet()
    for bet in range(40):
        scene.bet(racer.engine, "T1", f"r-{number}-{bet}", scene.euro("b"))


def read_at_once(racer: Racer) -> int:
    """Count the days that this runner reads; by his clock a day is over whenever he looks at it."""
    racer.meet()
    read, begun = 0, scene.now()
    for day in range(1, DAYS + 1):
        for number in count():
            scene.bet(racer.engine, "T1", f"r-{os.getpid()}-{day}-{number}", scene.euro("b"))
            read += reconcile_next(racer.engine, now=begun + timedelta(days=day + 1)) is not None
            if books.ask(racer.engine, "SELECT count(DISTINCT day) FROM reconciled_days")[0][0] >= day:
                break
    return read


def cancel_at_once(racer: Racer, job_ids: list[str]) -> None:
    racer.meet()
    for job_id in job_ids:
        transact(racer.engine, partial(requests.cancel, principal=AUDITOR, job_id=job_id, now=scene.now()))


def play(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    for number in range(30):
        scene.bet(engine, "T1", f"r{number}", scene.euro("b"))


def require_whole(engine: sqlalchemy.Engine, job_id: str) -> None:
    """The job's file is what it has to be, to the byte."""
    with reading(engine) as session:
        job = records.find(session, job_id)
        assert job is not None
        assert job.state is JobState.DONE
        export = journal_export(session, "live", FORMS["beancount"], positions=job.parameters["positions"])
        whole = b"".join(piece.content for piece in pieces(session, export))
    assert b"".join(requests.file_of(engine, job)) == whole


def test_what_is_asked_for_at_once_under_one_id_is_one_job(engine: sqlalchemy.Engine, database_url: str) -> None:
    play(engine)

    assert len(set(race(database_url, *[ask_at_once] * 6))) == 1

    assert books.ask(engine, "SELECT count(*) FROM jobs") == [(1,)]


def test_each_job_is_done_by_one_of_the_runners_while_bets_go_on(engine: sqlalchemy.Engine, database_url: str) -> None:
    play(engine)
    job_ids = [ask(engine, f"q{number}") for number in range(JOBS)]

    done = race(database_url, *[do_at_once] * RUNNERS, *[partial(bet_at_once, number=number) for number in range(2)])

    assert sum(done[:RUNNERS]) == JOBS
    for job_id in job_ids:
        require_whole(engine, job_id)
    books.require_clean(engine)


def test_jobs_that_are_cancelled_while_runners_do_them_are_whole_or_cancelled(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    play(engine)
    job_ids = [ask(engine, f"q{number}") for number in range(JOBS)]

    race(database_url, *[do_at_once] * 2, partial(cancel_at_once, job_ids=job_ids[::-1]))

    for job_id in job_ids:
        job = transact(engine, lambda session, job_id=job_id: records.find(session, job_id))  # type: ignore[misc]
        assert job is not None
        if job.state is not JobState.CANCELLED:
            require_whole(engine, job_id)
    assert books.deadlocks(engine) == 0


def test_days_are_read_once_each_by_any_of_the_runners_while_bets_go_on(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    play(engine)

    read = race(database_url, *[read_at_once] * RUNNERS, *[partial(bet_at_once, number=number) for number in range(2)])

    ((days, eighths),) = books.ask(engine, "SELECT count(DISTINCT day), count(*) FROM reconciled_days")
    assert DAYS <= days <= eighths == sum(read[:RUNNERS])
    assert books.deadlocks(engine) == 0
    books.require_clean(engine)
