"""The table of days that were reconciled: what their documents and entries came to when they were read."""

from datetime import date
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Date, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Count, Instant, Key


class ReconciledDayRow(Base):
    """
    A UTC day of a jackpot's book that was over, and was read one document and one entry at a time, once.

    It is what was booked after `starts` up to `ends`, a seq of each stripe. `sums` are what was found, as objects of
    side, version, account, currency, movement and amount, in the `report_version` of the reader.
    """

    __tablename__ = "reconciled_days"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "report_version", "day"),
        CheckConstraint("report_version >= 1", name="report_version"),
        CheckConstraint(
            "cardinality(starts) = cardinality(ends) AND cardinality(ends) >= 1 "
            "AND array_position(starts, NULL) IS NULL AND array_position(ends, NULL) IS NULL",
            name="positions",
        ),
        CheckConstraint("jsonb_typeof(sums) = 'array'", name="sums"),
        CheckConstraint("read_at >= (day + 1)::timestamp AT TIME ZONE 'UTC'", name="over"),
    )

    jackpot_id: Mapped[Key]
    report_version: Mapped[Count]
    day: Mapped[date] = mapped_column(Date)
    starts: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    ends: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    sums: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    read_at: Mapped[Instant]
