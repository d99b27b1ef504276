"""The table of seals: append-only, as a copy of what was handed out. What counts is the copies outside."""

from sqlalchemy import CheckConstraint, LargeBinary, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Key, Position


class SealRow(Base):
    """
    A seal: `document` is its canonical bytes as text, `entry_seq` the act that says who made it, and why.

    `public_key` shows that its signature fits; whose key that is, only a copy outside shows.
    """

    __tablename__ = "seals"
    __table_args__ = (
        PrimaryKeyConstraint("number"),
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("length(public_key) = 32", name="public_key"),
    )

    number: Mapped[Position]
    document: Mapped[Key]
    entry_seq: Mapped[Position]
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
