"""
The books' tables. Amounts are NUMERIC with a CHECK on scale and size, because NUMERIC(38,18) would round silently.

`entries` and `cycles` are append-only: the application's role may only insert, and triggers refuse the rest (see the
migrations). `stripes` is the one row a commit changes.
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    PrimaryKeyConstraint,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TIMESTAMP
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.transactions import Base
from jackpot_service.ledger import long_rounds

Instant = Annotated[datetime, mapped_column(TIMESTAMP(timezone=True))]
Amount = Annotated[Decimal, mapped_column(Numeric)]
Key = Annotated[str, mapped_column(Text(collation="C"))]
"""Text that is compared byte by byte, as Python does: a replay must list ids in the order of the first answer."""

Count = Annotated[int, mapped_column(Integer)]
Position = Annotated[int, mapped_column(BigInteger)]


def exact(*columns: str, name: str = "exact") -> CheckConstraint:
    """A CHECK that amounts are exact: at most 18 decimals, below 10**20."""
    laws = " AND ".join(f"scale({column}) <= 18 AND abs({column}) < 1e20" for column in columns)
    return CheckConstraint(laws, name=name)


class StripeRow(Base):
    """
    One of a jackpot's K stripes: its part of every pool, and the end of its chain of entries.

    `seq` and `head` are those of its last entry; `booked_at` never falls. `added_by` is the seq, on stripe 0, of the
    entry that added it: 1 for those of the opening. Up to `rolled_up_to` all its bets are in the sums of their days.
    """

    __tablename__ = "stripes"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "stripe_no"),
        CheckConstraint("stripe_no >= 0", name="stripe_no"),
        CheckConstraint("seq >= 0", name="seq"),
        CheckConstraint("length(head) = 32", name="head"),
        exact("meter_players", "meter_house", "reserve", "prize_fund"),
        {"postgresql_with": {"fillfactor": "20"}},
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    seq: Mapped[Position]
    head: Mapped[bytes] = mapped_column(LargeBinary)
    meter_players: Mapped[Amount]
    meter_house: Mapped[Amount]
    reserve: Mapped[Amount]
    prize_fund: Mapped[Amount]
    accepting: Mapped[bool]
    booked_at: Mapped[Instant]
    added_by: Mapped[Position]
    rolled_up_to: Mapped[Position] = mapped_column(server_default="0")


class EntryRow(Base):
    """
    One entry: its place in its stripe's chain, what it belongs to, and its postings as four parallel arrays.

    An entry of a round carries the round's key and its step, the round's own count of entries from 1. The view
    `postings` shows one row a posting.
    """

    __tablename__ = "entries"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "stripe_no", "seq"),
        Index(
            "uq_entries_jackpot_id_round_key_step",
            "jackpot_id",
            "round_key",
            "step",
            unique=True,
            postgresql_where=text("round_key IS NOT NULL"),
        ),
        # For reports of awards: few results made any. Of bets the condition looks at the kind alone.
        Index(
            "ix_entries_of_awards",
            "jackpot_id",
            "stripe_no",
            "seq",
            postgresql_where=text("kind = 'result'::text AND movements @> ARRAY['award'::text]"),
        ),
        # For rounds that were open at an instant, and have ended since; see docs/decisions/exceptions.md.
        Index(
            "ix_entries_of_long_rounds",
            text(long_rounds.LIFE),
            postgresql_using="gist",
            postgresql_where=text(long_rounds.LONG_LIVED),
        ),
        CheckConstraint("(round_key IS NULL) = (step IS NULL)", name="round_step"),
        CheckConstraint("length(digest) = 32 AND length(head) = 32", name="digests"),
        CheckConstraint("booked_at >= received_at", name="booked_at"),
        CheckConstraint(
            "cardinality(accounts) = cardinality(currencies) AND cardinality(accounts) = cardinality(amounts) "
            "AND cardinality(accounts) = cardinality(movements)",
            name="postings",
        ),
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    seq: Mapped[Position]
    kind: Mapped[Key]
    principal: Mapped[Key]
    round_key: Mapped[Position | None]
    step: Mapped[Count | None]
    received_at: Mapped[Instant]
    booked_at: Mapped[Instant]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    head: Mapped[bytes] = mapped_column(LargeBinary)
    accounts: Mapped[list[str]] = mapped_column(ARRAY(Text))
    currencies: Mapped[list[str]] = mapped_column(ARRAY(Text))
    amounts: Mapped[list[Decimal]] = mapped_column(ARRAY(Numeric))
    movements: Mapped[list[str]] = mapped_column(ARRAY(Text))


class CycleRow(Base):
    """
    One life of a jackpot, opened by the entry at (stripe_no, seq) under a rules version.

    `cut` is every stripe's seq at that entry, in the order of stripe numbers: what stands at or before it belongs to
    earlier cycles. A stripe that the array does not reach had no entry then.
    """

    __tablename__ = "cycles"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "cycle"),
        CheckConstraint("cycle >= 1", name="cycle"),
    )

    jackpot_id: Mapped[Key]
    cycle: Mapped[Count]
    rules_version: Mapped[Count]
    stripe_no: Mapped[Count]
    seq: Mapped[Position]
    cut: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
