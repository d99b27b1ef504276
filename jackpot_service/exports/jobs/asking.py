"""Asking for jobs, looking at them, ending them, and reading what they made."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy

from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports.jobs.kinds import Asker, Kind
from jackpot_service.records import jobs

MOST_WAITING = 20
"""Jobs that somebody may have that are not over: one is done at a time, and each file takes room."""

ASKERS = frozenset({Role.FINANCE, Role.AUDITOR})
"""Who asks for jobs; each kind says to whom of them it is open."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownJob(NotFound):
    """There is no job of this id, or not for this caller."""

    code = "job-unknown"
    title = "Unknown job"


class JobConflict(Conflict):
    """The id stands for another job."""

    code = "job-conflict"
    title = "The request id belongs to another job"


class JobsWaiting(Conflict):
    """The caller has as many jobs as he may that are not over."""

    code = "jobs-waiting"
    title = "Too many jobs wait"


class JobNotDone(Conflict):
    """There is no file, or not yet."""

    code = "job-not-done"
    title = "The job has no file to be read"


class JobFileRemoved(NotFound):
    """The file was kept for as long as files are."""

    code = "job-file-removed"
    title = "The file was removed"


@dataclass(frozen=True, slots=True)
class AskJob:
    """Somebody asks for a job of a kind, under an id of his own."""

    asker: Asker
    request_id: str
    kind: Kind[Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobAsked:
    """The job, and whether it had been asked for before."""

    job: Job
    is_replay: bool


def ask(engine: sqlalchemy.Engine, command: AskJob) -> JobAsked:
    """
    Ask for a job; what is asked again under the same id is the same job.

    Raises: BadPayload, JobForbidden, JobConflict, JobsWaiting, and what the kind refuses.
    """
    kind, asker = command.kind, command.asker
    asked = kind.read(command.parameters)
    kind.require(asker.principal, asked)
    before = read(engine, lambda session: _before(session, command))
    if before is not None:
        return JobAsked(before, is_replay=True)
    settled = kind.settle(engine, asked, asker)
    job = Job(
        job_id=_new_id(asker.now),
        kind=kind.name,
        asked=command.parameters,
        parameters=settled.parameters,
        principal=asker.principal.name,
        casino_id=asker.principal.casino_id,
        request_id=command.request_id,
        asked_at=asker.now,
        file_name=settled.file_name,
        media_type=settled.media_type,
        total=settled.total,
    )
    return transact(engine, lambda session: _add(session, command, job))


def _before(session: Session, command: AskJob) -> Job | None:
    """The same job, if it was asked for before. Raises: JobConflict; JobsWaiting if there is no room for a new one."""
    principal = command.asker.principal.name
    before = jobs.by_request(session, principal, command.request_id)
    if before is not None:
        return _same(before, command)
    if jobs.waiting_of(session, principal) >= MOST_WAITING:
        message = f"{MOST_WAITING} jobs of yours are not over: wait for one, or cancel it."
        raise JobsWaiting(message)
    return None


def _add(session: Session, command: AskJob, job: Job) -> JobAsked:
    """Add the job, unless somebody was faster. Raises: as `_before`."""
    before = _before(session, command)
    if before is not None:
        return JobAsked(before, is_replay=True)
    jobs.add(session, job)
    return JobAsked(job, is_replay=False)


def visible(session: Session, principal: Principal, job_id: str) -> Job:
    """Find a job that somebody may see. Raises: UnknownJob."""
    job = jobs.find(session, job_id)
    if job is None or not job.is_shown_to(principal):
        message = f"There is no job {job_id}."
        raise UnknownJob(message)
    return job


def cancel(session: Session, principal: Principal, job_id: str, *, now: datetime) -> Job:
    """End a job that somebody may see; one that is over stays as it is. Raises: UnknownJob."""
    visible(session, principal, job_id)
    jobs.cancel(session, job_id, by=principal.name, at=now)
    return visible(session, principal, job_id)


def require_file(job: Job) -> None:
    """Raises: JobNotDone; JobFileRemoved."""
    if job.state is not JobState.DONE:
        message = f"Job {job.job_id} is {job.state}."
        raise JobNotDone(message, state=job.state.value)
    if job.removed_at is not None:
        message = f"The file of job {job.job_id} was kept for as long as files are; the same can be asked for again."
        raise JobFileRemoved(message)


def file_of(engine: sqlalchemy.Engine, job: Job) -> Iterator[bytes]:
    """Read a job's file, a chunk at a time; no connection is held while whoever reads it is slow."""
    for number in range(1, job.chunks + 1):
        yield read(engine, lambda session, number=number: jobs.chunk(session, job.job_id, number))  # type: ignore[misc]


def _same(before: Job, command: AskJob) -> Job:
    if (before.kind, dict(before.asked)) != (command.kind.name, dict(command.parameters)):
        message = f"{command.request_id} is your id of job {before.job_id}, which is another."
        raise JobConflict(message, job_id=before.job_id)
    return before


def _new_id(now: datetime) -> str:
    microseconds = (now - _EPOCH) // timedelta(microseconds=1)
    return f"{microseconds:015x}-{secrets.token_hex(8)}"
