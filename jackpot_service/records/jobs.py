"""
Jobs and their files, as those see them who ask for them and those who do them.

One runner holds a job under a lease, and only its holder writes to it. Every statement of a runner says whose the job
is by then, so a runner that was too slow, or whose job was cancelled, changes nothing any more. The clock is the
database's, the same for runners of all machines.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Select,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from jackpot_service.database.models import IS_TO_DO, IS_TO_REMOVE, JobChunkRow, JobRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import BooksBroken, Conflict
from jackpot_service.domain.jobs import VERIFICATION, Job, JobState
from jackpot_service.domain.principals import Principal

COLUMNS = tuple(getattr(JobRow, field.name) for field in fields(Job))


class ChunkDamaged(BooksBroken, code="chunk-damaged"):
    """A chunk of a file is not there any more, or is not what was written."""


def add(session: Session, job: Job) -> None:
    """Write a job that was just asked for."""
    values = {field.name: getattr(job, field.name) for field in fields(Job)}
    session.execute(insert(JobRow).values(values | {"state": job.state.value}))


def find(session: Session, job_id: str) -> Job | None:
    """The job, or None if there is none of this id."""
    return _job_of(session, select(*COLUMNS).where(JobRow.job_id == job_id))


def by_request(session: Session, principal: str, request_id: str) -> Job | None:
    """The job that a principal requested under an id of its own, if there is one."""
    return _job_of(session, select(*COLUMNS).where(JobRow.principal == principal, JobRow.request_id == request_id))


def latest(
    session: Session,
    principal: Principal,
    *,
    limit: int,
    before: str | None = None,
    state: JobState | None = None,
    kinds: Collection[str] | None = None,
) -> Sequence[Job]:
    """List the jobs that somebody may see, the latest first: those before one, in a state, of some kinds."""
    question = select(*COLUMNS).order_by(JobRow.job_id.desc()).limit(limit)
    if principal.casino_id is not None:
        question = question.where(JobRow.casino_id == principal.casino_id)
    if before is not None:
        question = question.where(JobRow.job_id < before)
    if state is not None:
        question = question.where(JobRow.state == state.value)
    if kinds is not None:
        question = question.where(JobRow.kind.in_(kinds))
    return [job_of(row) for row in session.execute(question)]


def last_with_mismatches(session: Session, *, ended_by: datetime | None = None) -> Job | None:
    """Find the last verification that came to its end, perhaps by an instant, and found something wrong."""
    question = select(*COLUMNS).order_by(JobRow.ended_at.desc()).limit(1)
    question = question.where(JobRow.kind == VERIFICATION, JobRow.position["outcome"]["mismatches"].as_integer() > 0)
    if ended_by is not None:
        question = question.where(JobRow.ended_at <= ended_by)
    return _job_of(session, question)


def waiting_of(session: Session, principal: str) -> int:
    """Count the jobs of somebody that are not over."""
    question = select(func.count()).where(JobRow.principal == principal, IS_TO_DO)
    return session.scalar(question) or 0


def lock_kind(session: Session, kind: str) -> None:
    """Let nobody else create a job of a kind until the end of the transaction."""
    session.execute(_LOCK_KIND, {"lock": f"jobs of kind {kind}"})


_LOCK_KIND = text("SELECT pg_advisory_xact_lock(hashtext(:lock))")


def under_way(session: Session, kind: str) -> Job | None:
    """The first job of a kind that is not over; None if there is none."""
    return _job_of(session, select(*COLUMNS).where(JobRow.kind == kind, IS_TO_DO).order_by(JobRow.job_id).limit(1))


def cancel(session: Session, job_id: str, *, by: str, at: datetime) -> None:
    """End a job that is not over: its worker finds out when it writes the next chunk."""
    session.execute(
        update(JobRow)
        .where(JobRow.job_id == job_id, IS_TO_DO)
        .values(
            state=JobState.CANCELLED.value,
            cancelled_by=by,
            ended_at=func.greatest(JobRow.created_at, at),
            holder=None,
            lease_until=None,
        )
    )


def chunk(session: Session, job_id: str, number: int) -> bytes:
    """Read a chunk of a job's file. Raises: ChunkDamaged."""
    question = select(JobChunkRow.content, JobChunkRow.sha256).where(
        JobChunkRow.job_id == job_id, JobChunkRow.number == number
    )
    row = session.execute(question).one_or_none()
    if row is None or hashlib.sha256(row.content).digest() != row.sha256:
        message = f"Chunk {number} of job {job_id} is not what was written."
        raise ChunkDamaged(message)
    content: bytes = row.content
    return content


def job_of(row: Row[*tuple[Any, ...]]) -> Job:
    """Read a row of `COLUMNS`."""
    values = row._asdict()
    return Job(**values | {"state": JobState(values["state"])})


def _job_of(session: Session, question: Select[*tuple[Any, ...]]) -> Job | None:
    row = session.execute(question).one_or_none()
    return None if row is None else job_of(row)


REMOVED_AT_ONCE = 64
"""Chunks removed by one transaction: a file may have thousands."""


class LeaseLost(Conflict, code="lease-lost", title="Another worker has the job"):
    """The job is not the runner's any more: it was cancelled, or another has taken it up."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's hold of jobs, and for how long no other may take one up while the worker is silent."""

    holder: str
    length: timedelta


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a job's file: where it ends, how much is done by then and, unless that was known, of how much."""

    number: int
    content: bytes
    position: Mapping[str, Any] | None
    done: int
    total: int | None = None


def take(session: Session, lease: Lease, *, kinds: Collection[str]) -> Job | None:
    """
    Take the job of some kinds that was asked for first, and waits or was left by its runner; None if there is none.

    Jobs that another is taking at this moment are passed over. One that its holder takes again is one that it gave up.
    A position that says how much was done by then is where the job goes on, and so does its progress.
    """
    is_left = or_(JobRow.lease_until < func.now(), JobRow.holder == lease.holder)
    question = (
        select(JobRow.job_id)
        .where(
            IS_TO_DO,
            JobRow.kind.in_(kinds),
            or_(JobRow.state == JobState.QUEUED.value, is_left),
        )
        .order_by(JobRow.job_id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    job_id = session.scalar(question)
    if job_id is None:
        return None
    _begin_anew_without_position(session, job_id)
    done = func.coalesce(func.jsonb_extract_path_text(JobRow.position, "done").cast(BigInteger), JobRow.done)
    taken = session.execute(
        update(JobRow)
        .where(JobRow.job_id == job_id)
        .values(
            state=JobState.RUNNING.value,
            holder=lease.holder,
            lease_until=func.now() + lease.length,
            attempts=JobRow.attempts + 1,
            began_at=func.now(),
            began_with=done,
            done=done,
            heartbeat_at=func.now(),
        )
        .returning(*COLUMNS)
    )
    return job_of(taken.one())


def _begin_anew_without_position(session: Session, job_id: str) -> None:
    """A job that has written chunks and cannot go on after them begins at the beginning."""
    is_partial = and_(JobRow.job_id == job_id, JobRow.position.is_(None), JobRow.chunks > 0)
    emptied = session.execute(update(JobRow).where(is_partial).values(chunks=0, size=0, done=0))
    if emptied.rowcount:
        session.execute(delete(JobChunkRow).where(JobChunkRow.job_id == job_id))


def renew(session: Session, job_id: str, lease: Lease) -> None:
    """Say that the job is still being worked on. Raises: LeaseLost."""
    _change(session, job_id, lease, heartbeat_at=func.now(), lease_until=func.now() + lease.length)


def write(session: Session, job_id: str, lease: Lease, chunk: Chunk) -> None:
    """
    Write the next chunk of a job's file, and how far it is with it. Raises: LeaseLost.

    It ends the count of attempts only if its position is one to go on from, and another than before. Otherwise the job
    has got no further by it.
    """
    is_further = JobRow.position.is_distinct_from(chunk.position)
    _change(
        session,
        job_id,
        lease,
        JobRow.chunks == chunk.number - 1,
        chunks=chunk.number,
        size=JobRow.size + len(chunk.content),
        position=chunk.position,
        done=chunk.done,
        total=JobRow.total if chunk.total is None else chunk.total,
        attempts=JobRow.attempts if chunk.position is None else case((is_further, 0), else_=JobRow.attempts),
        heartbeat_at=func.now(),
        lease_until=func.now() + lease.length,
    )
    sha256 = hashlib.sha256(chunk.content).digest()
    session.execute(
        insert(JobChunkRow).values(job_id=job_id, number=chunk.number, content=chunk.content, sha256=sha256)
    )


def finish(session: Session, job_id: str, lease: Lease) -> None:
    """Say that the file is whole. Raises: LeaseLost."""
    _change(session, job_id, lease, **_ended(JobState.DONE), heartbeat_at=func.now())


def fail(session: Session, job_id: str, lease: Lease, error: str) -> None:
    """Say that it cannot be done, and why. Raises: LeaseLost."""
    _change(session, job_id, lease, **_ended(JobState.FAILED), error=error)


def release(session: Session, job_id: str, lease: Lease) -> None:
    """Let another go on with it at once. Raises: LeaseLost."""
    _change(session, job_id, lease, state=JobState.QUEUED.value, holder=None, lease_until=None, attempts=0)


def remove_some(session: Session, *, kept_for: timedelta) -> bool:
    """
    Remove some chunks of a file that nobody is to read any more; returns whether there was one.

    Those are the files of jobs that were cancelled or have failed, and those that were kept long enough. A file is
    marked as removed with the first of its chunks, so that nobody begins to read it; when none are left, it counts 0.
    """
    is_out_of_date = case((JobRow.state == JobState.DONE.value, JobRow.ended_at < func.now() - kept_for), else_=True)
    job_id = session.scalar(
        select(JobRow.job_id)
        .where(IS_TO_REMOVE, is_out_of_date)
        .order_by(JobRow.ended_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if job_id is None:
        return False
    some = select(JobChunkRow.number).where(JobChunkRow.job_id == job_id).limit(REMOVED_AT_ONCE).scalar_subquery()
    removed = session.execute(delete(JobChunkRow).where(JobChunkRow.job_id == job_id, JobChunkRow.number.in_(some)))
    values: dict[str, Any] = {"removed_at": func.coalesce(JobRow.removed_at, func.now())}
    if removed.rowcount < REMOVED_AT_ONCE:
        values["chunks"] = 0
    session.execute(update(JobRow).where(JobRow.job_id == job_id).values(values))
    return True


def _ended(state: JobState) -> dict[str, Any]:
    return {"state": state.value, "holder": None, "lease_until": None, "ended_at": func.now()}


def _change(session: Session, job_id: str, lease: Lease, *conditions: ColumnElement[bool], **values: Any) -> None:  # noqa: ANN401
    """Change a job that the lease's holder still holds. Raises: LeaseLost."""
    held = and_(
        JobRow.job_id == job_id, JobRow.state == JobState.RUNNING.value, JobRow.holder == lease.holder, *conditions
    )
    if session.execute(update(JobRow).where(held).values(**values)).rowcount != 1:
        message = f"Job {job_id} is not {lease.holder}'s any more."
        raise LeaseLost(message, job_id=job_id)
