"""Jobs of the kinds there are: creating them, finding them, ending them, and reading their files."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy

from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports.jobs.journal import journal
from jackpot_service.exports.jobs.kinds import Kind, Requester
from jackpot_service.exports.jobs.report import report
from jackpot_service.exports.jobs.verification import verification
from jackpot_service.records import jobs

MOST_WAITING: Final = 20
"""Jobs of a principal that are not over: one is done at a time, and each file takes room."""

REQUESTERS: Final = frozenset({Role.FINANCE, Role.AUDITOR})
"""The roles that create jobs; a kind may be closed to some of their keys."""

KINDS: Final[Mapping[str, Kind[Any]]] = MappingProxyType(
    {kind.name: kind for kind in (journal(), report(), verification())}
)
"""The kinds of jobs there are."""

FILES: Final[Mapping[str, Kind[Any]]] = MappingProxyType(
    {name: kind for name, kind in KINDS.items() if not kind.is_alone}
)
"""Those that make files to be fetched, one after another."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownJob(NotFound, code="job-unknown", title="Unknown job"):
    """There is no job of this id, or not for this caller."""


class JobConflict(Conflict, code="job-conflict", title="The request id belongs to another job"):
    """The id stands for another job."""


class JobsWaiting(Conflict, code="jobs-waiting", title="Too many jobs wait"):
    """The caller has too many jobs that are not over."""


class JobUnderWay(Conflict, code="job-under-way", title="Such a job is under way"):
    """Of this kind one job is done at a time, and there is one that is not over."""


class JobNotDone(Conflict, code="job-not-done", title="The job has no file to be read"):
    """There is no file, or not yet."""


class JobFileRemoved(NotFound, code="job-file-removed", title="The file was removed"):
    """The file was kept for as long as files are, and then removed."""


@dataclass(frozen=True, slots=True)
class CreateJob:
    """A request for a job of a kind, under an id of the caller's."""

    requester: Requester
    request_id: str
    kind: Kind[Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobCreated:
    """A job, and whether it was there before."""

    job: Job
    is_replay: bool


def create(engine: sqlalchemy.Engine, command: CreateJob) -> JobCreated:
    """
    Create a job; the same request under the same id is the same job.

    Raises: BadPayload, JobForbidden, JobConflict, JobUnderWay, JobsWaiting, and the refusals of the kind.
    """
    kind, requester = command.kind, command.requester
    kind.require_role(requester.principal)
    request = kind.read(command.parameters)
    kind.require(requester.principal, request)
    before = read(engine, partial(_before, command=command))
    if before is not None:
        return JobCreated(before, is_replay=True)
    settled = kind.settle(engine, request, requester)
    job = Job(
        job_id=_new_id(requester.now),
        kind=kind.name,
        request=command.parameters,
        parameters=settled.parameters,
        principal=requester.principal.name,
        casino_id=requester.principal.casino_id,
        request_id=command.request_id,
        created_at=requester.now,
        file_name=settled.file_name,
        media_type=settled.media_type,
        total=settled.total,
    )
    return transact(engine, partial(_add, command=command, job=job))


def _before(session: Session, command: CreateJob) -> Job | None:
    """Return the same job, if it is there. Raises: JobConflict; JobUnderWay or JobsWaiting if there is no room."""
    principal = command.requester.principal.name
    before = jobs.by_request(session, principal, command.request_id)
    if before is None:
        _require_alone(session, command.kind)
        if jobs.waiting_of(session, principal) >= MOST_WAITING:
            message = f"{MOST_WAITING} jobs of yours are not over: wait for one, or cancel it."
            raise JobsWaiting(message)
    elif (before.kind, dict(before.request)) != (command.kind.name, dict(command.parameters)):
        message = f"{command.request_id} is your id of job {before.job_id}, which is another."
        raise JobConflict(message, job_id=before.job_id)
    return before


def _add(session: Session, command: CreateJob, job: Job) -> JobCreated:
    """Add the job, unless another request was faster. Raises: as `_before`."""
    if command.kind.is_alone:
        jobs.lock_kind(session, command.kind.name)
    before = _before(session, command)
    if before is not None:
        return JobCreated(before, is_replay=True)
    jobs.add(session, job)
    return JobCreated(job, is_replay=False)


def _require_alone(session: Session, kind: Kind[Any]) -> None:
    """Raises: JobUnderWay if a job is not over of a kind of which there is one at a time."""
    other = jobs.under_way(session, kind.name) if kind.is_alone else None
    if other is not None:
        message = f"Job {other.job_id} of {other.principal} is not over."
        raise JobUnderWay(message, job_id=other.job_id)


def visible(session: Session, principal: Principal, job_id: str) -> Job:
    """Find a job that a principal may see. Raises: UnknownJob."""
    job = jobs.find(session, job_id)
    if job is None or not job.is_shown_to(principal):
        message = f"There is no job {job_id}."
        raise UnknownJob(message)
    return job


def cancel(session: Session, principal: Principal, job_id: str, *, now: datetime) -> Job:
    """End a job that a principal may see; one that is over stays as it is. Raises: UnknownJob; JobForbidden."""
    kind = KINDS.get(visible(session, principal, job_id).kind)
    if kind is not None:
        kind.require_role(principal)
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
    """Read a job's file, a chunk at a time; no connection is held while its reader is slow."""
    for number in range(1, job.chunks + 1):
        yield read(engine, partial(jobs.chunk, job_id=job.job_id, number=number))


def _new_id(now: datetime) -> str:
    microseconds = (now - _EPOCH) // timedelta(microseconds=1)
    return f"{microseconds:015x}-{secrets.token_hex(8)}"
