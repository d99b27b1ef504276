"""The tables of jobs and the files that they write."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key

IS_TO_DO: Final = text("state IN ('queued', 'running')")
IS_TO_REMOVE: Final = text("state IN ('done', 'failed', 'cancelled') AND chunks > 0")
"""The conditions of partial indexes of jobs, which a statement has to have word by word."""


class JobRow(Base):
    """A job (see `domain.jobs.Job`), and who holds it until when: `holder` runs it until `lease_until`."""

    __tablename__ = "jobs"

    job_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    request: Mapped[dict[str, Any]]
    parameters: Mapped[dict[str, Any]]
    principal: Mapped[str]
    casino_id: Mapped[str | None]
    request_id: Mapped[str]
    created_at: Mapped[datetime]
    state: Mapped[str]
    file_name: Mapped[str]
    media_type: Mapped[str]
    chunks: Mapped[Count]
    size: Mapped[int]
    position: Mapped[dict[str, Any] | None]
    done: Mapped[int]
    total: Mapped[int | None]
    attempts: Mapped[Count]
    began_at: Mapped[datetime | None]
    began_with: Mapped[int]
    heartbeat_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    error: Mapped[str | None]
    cancelled_by: Mapped[str | None]
    removed_at: Mapped[datetime | None]
    holder: Mapped[str | None]
    lease_until: Mapped[datetime | None]


class JobChunkRow(Base):
    """A part of a job's file, numbered from 1. It is written once, and removed with the file."""

    __tablename__ = "job_chunks"

    job_id: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    content: Mapped[bytes]
    sha256: Mapped[bytes]
