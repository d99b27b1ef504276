"""The tables of what was found right, or closed, up to a point: periods, days, seals and verifications."""

from datetime import date, datetime
from typing import Any

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class ClosedPeriodRow(Base):
    """
    A period that is closed, by the act of this seq: from `starts_at` (null: the beginning) to `ends_at`, not included.

    `reports` holds, by the names of the reports, their version and the SHA-256 of their content.
    """

    __tablename__ = "closed_periods"

    ends_at: Mapped[datetime] = primary_key()
    starts_at: Mapped[datetime | None]
    reports: Mapped[dict[str, Any]]
    entry_seq: Mapped[int]


class ReconciledDayRow(Base):
    """
    An eighth of a UTC day of a jackpot's book that was over, and was read one document and one entry at a time, once.

    The first `eighth` is 0, and begins at midnight; each is three hours long. It is what was booked after `starts` up
    to `ends`, a seq of each stripe. `sums` are what was found, in the `report_version` of the reader: objects of side,
    version, account, currency, movement and amount.
    """

    __tablename__ = "reconciled_days"

    jackpot_id: Mapped[str] = primary_key()
    report_version: Mapped[Count] = primary_key()
    day: Mapped[date] = primary_key()
    eighth: Mapped[Count] = primary_key()
    starts: Mapped[list[int]]
    ends: Mapped[list[int]]
    sums: Mapped[list[dict[str, Any]]]
    read_at: Mapped[datetime]


class SealRow(Base):
    """
    A seal: `document` is its canonical bytes as text, `entry_seq` the act that says who made it, and why.

    `public_key` shows that its signature fits; whose key that is, only a copy outside shows.
    """

    __tablename__ = "seals"

    number: Mapped[int] = primary_key()
    document: Mapped[str]
    entry_seq: Mapped[int]
    public_key: Mapped[bytes]


class VerificationRow(Base):
    """
    Where a verification stood that had found nothing wrong: at its end (`is_whole`), or on its way there.

    `continues` is the number of the row from which it went on; None for one that began at zero. The counts are those
    of the run; `books` says how far each book is verified, as `records.checkpoints` writes it.
    """

    __tablename__ = "verifications"

    number: Mapped[int] = primary_key()
    begun_at: Mapped[datetime]
    noted_at: Mapped[datetime]
    service_version: Mapped[str]
    continues: Mapped[int | None]
    is_whole: Mapped[bool]
    entries: Mapped[int]
    rounds: Mapped[int]
    bets: Mapped[int]
    awards: Mapped[int]
    books: Mapped[dict[str, Any]]
