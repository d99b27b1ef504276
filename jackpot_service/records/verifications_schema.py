"""The table of verifications: how far the books were proved, and when; append-only."""

from typing import Any

from sqlalchemy import BigInteger, Identity, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Instant, Key, Position


class VerificationRow(Base):
    """
    Where a verification stood that had found nothing wrong: at its end (`is_whole`), or on its way there.

    `continues` is the number of the row from which it went on; None for one that began at zero. The counts are those
    of the run; `books` says how far each book is verified, as `records.verifications` writes it.
    """

    __tablename__ = "verifications"
    __table_args__ = (PrimaryKeyConstraint("number"),)

    number: Mapped[int] = mapped_column(BigInteger, Identity(always=False))
    begun_at: Mapped[Instant]
    noted_at: Mapped[Instant]
    service_version: Mapped[Key]
    continues: Mapped[Position | None]
    is_whole: Mapped[bool]
    entries: Mapped[Position]
    rounds: Mapped[Position]
    bets: Mapped[Position]
    awards: Mapped[Position]
    books: Mapped[dict[str, Any]] = mapped_column(JSONB)
