"""
Jobs as those see them who do them: one runner holds a job under a lease, and only its holder writes to it.

Every statement here that writes says whose the job is by then, so a runner that was too slow, or whose job was
cancelled, changes nothing any more. The clock is the database's, the same for runners of all machines.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, or_, select, update

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.records.jobs import COLUMNS, job_of
from jackpot_service.records.jobs_schema import IS_TO_DO, IS_TO_REMOVE, JobChunkRow, JobRow

REMOVED_AT_ONCE = 64
"""Chunks removed by one transaction: a file may have thousands."""


class LeaseLost(Conflict, code="lease-lost", title="Another worker has the job"):
    """The job is not the runner's any more: it was cancelled, or another has taken it up."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works on jobs, and for how long nobody else may take one up that it has not been heard of."""

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
    taken = session.execute(
        update(JobRow)
        .where(JobRow.job_id == job_id)
        .values(
            state=JobState.RUNNING.value,
            holder=lease.holder,
            lease_until=func.now() + lease.length,
            attempts=JobRow.attempts + 1,
            began_at=func.now(),
            began_with=JobRow.done,
            heartbeat_at=func.now(),
        )
        .returning(*COLUMNS)
    )
    return job_of(taken.one())


def _begin_anew_without_position(session: Session, job_id: str) -> None:
    """What has written chunks and cannot go on after them begins at the beginning."""
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

    It ends the count of attempts only if it is one to go on from: what begins anew has got no further by it.
    """
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
        attempts=JobRow.attempts if chunk.position is None else 0,
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


def remove_some(session: Session, *, kept: timedelta) -> bool:
    """
    Remove some chunks of a file that nobody is to read any more; returns whether there was one.

    Those are the files of jobs that were cancelled or have failed, and those that were kept long enough. A file is
    marked as removed with the first of its chunks, so that nobody begins to read it; when none are left, it counts 0.
    """
    is_out_of_date = case((JobRow.state == JobState.DONE.value, JobRow.ended_at < func.now() - kept), else_=True)
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
