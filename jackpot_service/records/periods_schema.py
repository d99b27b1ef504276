"""The table of periods that finance closed."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Instant, Position


class ClosedPeriodRow(Base):
    """
    A period that is closed, by the act of this seq: from `starts_at` (null: the beginning) to `ends_at`, not included.

    `reports` tells, by the names of the reports, their version and the SHA-256 of their content.
    """

    __tablename__ = "closed_periods"
    __table_args__ = (PrimaryKeyConstraint("ends_at"), CheckConstraint("ends_at > starts_at", name="order"))

    ends_at: Mapped[Instant]
    starts_at: Mapped[datetime | None] = mapped_column(TIMESTAMP(timezone=True))
    reports: Mapped[dict[str, Any]] = mapped_column(JSONB)
    entry_seq: Mapped[Position]
