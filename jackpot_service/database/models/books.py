"""The tables of the books: stripes, their entries, and the cycles of jackpots."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.database.models.base import Base, Count, Figure, primary_key


class StripeRow(Base):
    """
    One of a jackpot's K stripes: its part of every pool, and the end of its chain of entries.

    `seq` and `head` are those of its last entry; `booked_at` never falls. `added_by` is the seq, on stripe 0, of the
    entry that added it: 1 for those of the opening. Up to `summed_to` its entries are in the sums of their days.
    `limits_version` is the version of its jackpot's table limits, 0 before the first.
    """

    __tablename__ = "stripes"

    jackpot_id: Mapped[str] = primary_key()
    stripe_no: Mapped[Count] = primary_key()
    seq: Mapped[int]
    head: Mapped[bytes]
    meter_players: Mapped[Decimal]
    meter_house: Mapped[Decimal]
    reserve: Mapped[Decimal]
    prize_fund: Mapped[Decimal]
    accepting: Mapped[bool]
    booked_at: Mapped[datetime]
    added_by: Mapped[int]
    summed_to: Mapped[int]
    limits_version: Mapped[Count]


class EntryRow(Base):
    """
    One entry: its place in its stripe's chain, what it belongs to, its postings as four parallel arrays, its figures.

    An entry of a round carries the round's key and its step, the round's own count of entries from 1. Casino, table and
    rules version are those of its figures, and empty, or 0, where there is none. The view `postings` shows one row a
    posting, `figures` one row a figure.

    `facts` are what a closing, a result, a cancellation or voids recorded, as `domain.facts` writes it; null for
    anything else. The views `results`, `hands`, `settlements` and `cancellations` show their columns.
    """

    __tablename__ = "entries"

    jackpot_id: Mapped[str] = primary_key()
    stripe_no: Mapped[Count] = primary_key()
    seq: Mapped[int] = primary_key()
    kind: Mapped[str]
    principal: Mapped[str]
    round_key: Mapped[int | None]
    step: Mapped[Count | None]
    received_at: Mapped[datetime]
    booked_at: Mapped[datetime]
    digest: Mapped[bytes]
    head: Mapped[bytes]
    accounts: Mapped[list[str]]
    currencies: Mapped[list[str]]
    amounts: Mapped[list[Decimal]]
    movements: Mapped[list[str]]
    casino_id: Mapped[str]
    table_id: Mapped[str]
    rules_version: Mapped[Count]
    figures: Mapped[list[str]] = mapped_column(ARRAY(Figure))
    facts: Mapped[dict[str, Any] | None]


class CycleRow(Base):
    """
    One life of a jackpot, opened by the entry at (stripe_no, seq) under a rules version.

    `cut` is every stripe's seq at that entry, in the order of stripe numbers: what stands at or before it belongs to
    earlier cycles. A stripe that the array does not reach had no entry then.
    """

    __tablename__ = "cycles"

    jackpot_id: Mapped[str] = primary_key()
    cycle: Mapped[Count] = primary_key()
    rules_version: Mapped[Count]
    stripe_no: Mapped[Count]
    seq: Mapped[int]
    cut: Mapped[list[int]]
