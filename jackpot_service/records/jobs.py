"""Jobs as people see them: asked for, listed, cancelled, their files read."""

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, func, insert, select, update

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import Principal
from jackpot_service.records.jobs_schema import IS_TO_DO, JobChunkRow, JobRow

COLUMNS = tuple(getattr(JobRow, field.name) for field in fields(Job))


class ChunkDamaged(BooksBroken, code="chunk-damaged"):
    """A chunk of a file is not there any more, or is not what was written."""


def add(session: Session, job: Job) -> None:
    """Write a job that was just asked for."""
    values = {field.name: getattr(job, field.name) for field in fields(Job)}
    session.execute(insert(JobRow).values(values | {"state": job.state.value}))


def find(session: Session, job_id: str) -> Job | None:
    """The job, or None if there is none of this id."""
    return _one(session, select(*COLUMNS).where(JobRow.job_id == job_id))


def by_request(session: Session, principal: str, request_id: str) -> Job | None:
    """The job that somebody asked for under an id of his own, if there is one."""
    return _one(session, select(*COLUMNS).where(JobRow.principal == principal, JobRow.request_id == request_id))


def latest(
    session: Session, principal: Principal, *, limit: int, before: str | None = None, state: JobState | None = None
) -> Sequence[Job]:
    """List the jobs that somebody may see, the latest first: those before one, perhaps only those in a state."""
    question = select(*COLUMNS).order_by(JobRow.job_id.desc()).limit(limit)
    if principal.casino_id is not None:
        question = question.where(JobRow.casino_id == principal.casino_id)
    if before is not None:
        question = question.where(JobRow.job_id < before)
    if state is not None:
        question = question.where(JobRow.state == state.value)
    return [job_of(row) for row in session.execute(question)]


def waiting_of(session: Session, principal: str) -> int:
    """Count the jobs of somebody that are not over."""
    question = select(func.count()).where(JobRow.principal == principal, IS_TO_DO)
    return session.scalar(question) or 0


def cancel(session: Session, job_id: str, *, by: str, at: datetime) -> None:
    """End a job that is not over: whoever runs it finds out when it writes its next chunk."""
    session.execute(
        update(JobRow)
        .where(JobRow.job_id == job_id, IS_TO_DO)
        .values(
            state=JobState.CANCELLED.value,
            cancelled_by=by,
            ended_at=func.greatest(JobRow.asked_at, at),
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


def _one(session: Session, question: Select[*tuple[Any, ...]]) -> Job | None:
    row = session.execute(question).one_or_none()
    return None if row is None else job_of(row)
