"""
The tables of jobs. They are no books: rows change, files are removed, and `verify` does not vouch for them.

What a file says stands in the books, from which the same job would make it again.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Count, Instant, Key, Position

IS_TO_DO = text("state IN ('queued', 'running')")
IS_TO_REMOVE = text("state IN ('done', 'failed', 'cancelled') AND chunks > 0")
"""The conditions of partial indexes, which a statement has to have word by word."""


class JobRow(Base):
    """A job (see `domain.jobs.Job`), and who holds it until when: `holder` runs it until `lease_until`."""

    __tablename__ = "jobs"
    __table_args__ = (
        PrimaryKeyConstraint("job_id"),
        UniqueConstraint("principal", "request_id"),
        Index("ix_jobs_to_do", "job_id", postgresql_where=IS_TO_DO),
        Index("ix_jobs_to_remove", "ended_at", postgresql_where=IS_TO_REMOVE),
        CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"),
        CheckConstraint(
            "chunks >= 0 AND size >= 0 AND done >= 0 AND attempts >= 0 AND (total IS NULL OR total >= done)",
            name="counts",
        ),
        CheckConstraint("(state = 'running') = (holder IS NOT NULL AND lease_until IS NOT NULL)", name="lease"),
        CheckConstraint("(state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL)", name="ended_at"),
        CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name="error"),
        CheckConstraint("(state = 'cancelled') = (cancelled_by IS NOT NULL)", name="cancelled_by"),
    )

    job_id: Mapped[Key]
    kind: Mapped[Key]
    asked: Mapped[dict[str, Any]] = mapped_column(JSONB)
    parameters: Mapped[dict[str, Any]] = mapped_column(JSONB)
    principal: Mapped[Key]
    casino_id: Mapped[Key | None]
    request_id: Mapped[Key]
    asked_at: Mapped[Instant]
    state: Mapped[Key]
    file_name: Mapped[Key]
    media_type: Mapped[Key]
    chunks: Mapped[Count]
    size: Mapped[Position]
    position: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    done: Mapped[Position]
    total: Mapped[int | None] = mapped_column(BigInteger)
    attempts: Mapped[Count]
    began_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    began_with: Mapped[Position]
    heartbeat_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    error: Mapped[Key | None]
    cancelled_by: Mapped[Key | None]
    removed_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    holder: Mapped[Key | None]
    lease_until: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))


class JobChunkRow(Base):
    """A part of a job's file, numbered from 1. It is written once, and removed with the file."""

    __tablename__ = "job_chunks"
    __table_args__ = (
        PrimaryKeyConstraint("job_id", "number"),
        ForeignKeyConstraint(["job_id"], ["jobs.job_id"]),
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("sha256 = sha256(content)", name="sha256"),
    )

    job_id: Mapped[Key]
    number: Mapped[Count]
    content: Mapped[bytes] = mapped_column(LargeBinary)
    sha256: Mapped[bytes] = mapped_column(LargeBinary)
