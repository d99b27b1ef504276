"""The table of instants that a version before this one wrote down, of those that are not found from entries alone."""

from sqlalchemy import BigInteger, CheckConstraint, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Instant, Key


class InstantRow(Base):
    """
    An instant that somebody asked a version before this one about. No rows are added.

    `positions` are the seqs of the last entries booked before it, in the order of the stripes' numbers, of the stripes
    that there were when it was asked. Only rows whose answer names stripes that were added after the instant are kept:
    hashes of closed periods cover the answer.
    """

    __tablename__ = "instants"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "instant"),
        CheckConstraint("cardinality(positions) >= 1", name="positions"),
    )

    jackpot_id: Mapped[Key]
    instant: Mapped[Instant]
    positions: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
