"""The table of instants that were asked about, and where each book's stripes stood."""

from sqlalchemy import BigInteger, CheckConstraint, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.db import Base
from jackpot_service.ledger.schema import Instant, Key


class InstantRow(Base):
    """
    An instant that somebody asked about, resolved for one book, once and for ever.

    `positions` are the seqs of the last entries booked before it, in the order of the stripes' numbers.
    """

    __tablename__ = "instants"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "instant"),
        CheckConstraint("cardinality(positions) >= 1", name="positions"),
    )

    jackpot_id: Mapped[Key]
    instant: Mapped[Instant]
    positions: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
