"""`jackpot jobs …`: long work that is done in the background, and the files that it leaves for a while."""

import os
import signal
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import sqlalchemy

from jackpot_service.api.jobs import JobSchema, JobView
from jackpot_service.auth.authenticator import require_role
from jackpot_service.cli.opening import opened_engine, require_no_owner, signed_act
from jackpot_service.cli.progress import set_by_signals, shown_progress
from jackpot_service.cli.values import Identifier, JsonDocument, request_id_option
from jackpot_service.cli.writing import limit_option, opened, output_option, print_json, print_list
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal
from jackpot_service.exports.jobs import requests
from jackpot_service.exports.jobs.kinds import Requester
from jackpot_service.exports.jobs.requests import KINDS, REQUESTERS, CreateJob
from jackpot_service.exports.jobs.runner import Runner
from jackpot_service.records import jobs as records
from jackpot_service.reports.reconciling import Days
from jackpot_service.telemetry import logs

SECONDS_BETWEEN_LOOKS = 0.5

NICENESS = 10
"""How far a worker that a server starts gives way to it."""


@click.group("jobs")
def jobs() -> None:
    """Long exports: created, done in the background, and fetched as files."""


@jobs.command("create")
@click.argument("kind", type=click.Choice(sorted(KINDS)))
@click.argument("parameters", type=JsonDocument())
@request_id_option
@click.pass_obj
def create(config: Config, kind: str, parameters: dict[str, Any], request_id: str) -> None:
    """Create a job; PARAMETERS is JSON, or @FILE. Its id is printed. JACKPOT_KEY says who you are."""
    with opened_engine(config) as engine:
        requester = Requester(_caller(config, engine), datetime.now(UTC), config.longest_open)
        created = requests.create(engine, CreateJob(requester, request_id, KINDS[kind], parameters))
    if created.is_replay:
        click.echo(f"It was created before; it is {created.job.state}.", err=True)
    click.echo(created.job.job_id)


@jobs.command("list")
@click.option("--state", type=click.Choice([state.value for state in JobState]))
@limit_option
@click.pass_obj
def list_jobs(config: Config, state: str | None, limit: int) -> None:
    """List the latest jobs, a line each."""
    in_state = None if state is None else JobState(state)
    print_list(
        config,
        lambda session, most: records.latest(session, SYSTEM_OPERATOR, limit=most, state=in_state),
        _line,
        limit=limit,
    )


@jobs.command("show")
@click.argument("job_id", type=Identifier())
@click.pass_obj
def show(config: Config, job_id: str) -> None:
    """Show a job."""
    with opened_engine(config) as engine:
        job = _job(engine, job_id)
    print_json(JobSchema().dump(JobView(job, config.files_kept)))


@jobs.command("cancel")
@click.argument("job_id", type=Identifier())
@click.pass_obj
def cancel(config: Config, job_id: str) -> None:
    """End a job; one that is over stays as it is."""
    with opened_engine(config) as engine:
        by, now = _caller(config, engine), datetime.now(UTC)
        job = transact(engine, lambda session: requests.cancel(session, by, job_id, now=now))
    click.echo(f"Job {job_id} is {job.state}.", err=True)


@jobs.command("fetch")
@click.argument("job_id", type=Identifier())
@click.option("--wait", is_flag=True, help="Wait until it is done, by jackpot serve or jobs worker.")
@output_option
@click.pass_obj
def fetch(config: Config, job_id: str, wait: bool, output: Path | None) -> None:  # noqa: FBT001
    """Write the file of a job that is done to standard output."""
    with opened_engine(config) as engine:
        job = _finished(engine, job_id) if wait else _job(engine, job_id)
        requests.require_file(job)
        with opened(output) as file:
            for content in requests.file_of(engine, job):
                file.write(content)


@jobs.command("worker")
@click.option("--supervised", is_flag=True, hidden=True, help="By a server: give way to it, and end with it.")
@click.pass_obj
def worker(config: Config, supervised: bool) -> None:  # noqa: FBT001
    """Do jobs, and reconcile days, until Ctrl-C or SIGTERM; a job is taken up where it was left."""
    require_no_owner(config)
    logs.configure(config.log_level)
    with opened_engine(config) as engine:
        stop = threading.Event()
        runner = Runner(engine, config.files_kept, stop, idle=Days(engine, stop).reconcile_next)
        set_by_signals(stop, [signal.SIGINT, signal.SIGTERM])
        if supervised:
            os.nice(NICENESS)
            threading.Thread(target=_stop_at_end_of_input, args=[stop], daemon=True).start()
        runner.work()


def _stop_at_end_of_input(stop: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 1):  # Not by a buffer: its lock would be held when the interpreter ends.
        pass
    stop.set()


def _caller(config: Config, engine: sqlalchemy.Engine) -> Principal:
    """
    Return the owner of the key in JACKPOT_KEY; where it is not set, the machine's operator.

    Raises: Unauthenticated if it is not in force; RoleForbidden unless it may create jobs over HTTP as well.
    """
    if config.key is None:
        return SYSTEM_OPERATOR
    principal = signed_act(config, engine, request_id=None, reason=None).principal
    require_role(principal, REQUESTERS)
    return principal


def _job(engine: sqlalchemy.Engine, job_id: str) -> Job:
    return read(engine, lambda session: requests.visible(session, SYSTEM_OPERATOR, job_id))


def _finished(engine: sqlalchemy.Engine, job_id: str) -> Job:
    """Wait until a job is over."""
    pause = threading.Event()
    with shown_progress() as count:
        while not (job := _job(engine, job_id)).is_over:
            count(job.done, job.total, f"job {job_id}")
            pause.wait(SECONDS_BETWEEN_LOOKS)
        count(job.done, job.total, f"job {job_id}")
    return job


def _line(job: Job) -> str:
    parts = [job.job_id, f"{job.created_at:%Y-%m-%d %H:%M:%S}Z", job.kind, job.file_name, f"by {job.principal}"]
    return "  ".join([*parts, job.state, *_progress(job)])


def _progress(job: Job) -> list[str]:
    if job.state is JobState.FAILED:
        return [job.error or ""]
    if job.state is not JobState.RUNNING:
        return []
    done = f"{job.done:,}" if job.total is None else f"{job.done:,} of {job.total:,}"
    left = job.remaining
    return [done] if left is None else [done, f"{timedelta(seconds=round(left.total_seconds()))} left"]


COMMANDS = (jobs,)
