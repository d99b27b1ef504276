"""
What the database knows of deciding change requests: by which role, and whether one person alone may in an emergency.

The application reads these tables. The owner of the database writes them: the first by migrations, the second by a
command that is an act.
"""

from sqlalchemy import Boolean, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Key, Position


class ChangeDeciderRow(Base):
    """A role that may decide change requests of a kind."""

    __tablename__ = "change_deciders"
    __table_args__ = (PrimaryKeyConstraint("kind", "role"),)

    kind: Mapped[Key]
    role: Mapped[Key]


class EmergencySwitchRow(Base):
    """
    Whether one person alone may approve an own request, since the act of this seq; the latest row says what is so now.

    The schema begins with a row of seq 0 that says off.
    """

    __tablename__ = "emergency_switches"
    __table_args__ = (PrimaryKeyConstraint("entry_seq"),)

    entry_seq: Mapped[Position]
    is_on: Mapped[bool] = mapped_column(Boolean)
