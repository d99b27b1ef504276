"""
The books' tables. Amounts are NUMERIC with a CHECK on scale and size, because NUMERIC(38,18) would round silently.

`entries` and `cycles` are append-only: the application's role may only insert, and triggers refuse the rest (see the
migrations). `stripes` is the one row a commit changes.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Final

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
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

from jackpot_service.database.transactions import Base
from jackpot_service.ledger import long_rounds

Instant = Annotated[datetime, mapped_column(TIMESTAMP(timezone=True))]
Amount = Annotated[Decimal, mapped_column(Numeric)]
Key = Annotated[str, mapped_column(Text(collation="C"))]
"""Text that is compared byte by byte, as Python does: a replay must list ids in the order of the first answer."""

Count = Annotated[int, mapped_column(Integer)]
Position = Annotated[int, mapped_column(BigInteger)]


class FigureType(UserDefinedType[str]):
    """The type of PostgreSQL, see `domain.figures`."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Write the type's name."""
        return "figure"


ischema_names["figure"] = FigureType  # By this the models can be compared with a database.


def exact(*columns: str, name: str = "exact") -> CheckConstraint:
    """A CHECK that amounts are exact: at most 18 decimals, below 10**20."""
    laws = " AND ".join(f"scale({column}) <= 18 AND abs({column}) < 1e20" for column in columns)
    return CheckConstraint(laws, name=name)


class StripeRow(Base):
    """
    One of a jackpot's K stripes: its part of every pool, and the end of its chain of entries.

    `seq` and `head` are those of its last entry; `booked_at` never falls. `added_by` is the seq, on stripe 0, of the
    entry that added it: 1 for those of the opening. Up to `summed_to` its entries are in the sums of their days.
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
    summed_to: Mapped[Position] = mapped_column(server_default="0")


EXACT_FACTS: Final = (
    "NOT jsonb_path_exists(facts, '$.settlement.keyvalue() ? "
    '(@.key like_regex "^(weight|overflow|carried|house_seed|[a-z_]+_(before|after))$" && @.key != "cycle_after" '
    '&& @.value.type() != "null" && (@.value.type() != "string" '
    '|| !(@.value like_regex "^-?[0-9]{1,20}([.][0-9]{1,18})?$")))\')'
)
"""Every amount of a settlement is a text, with at most 18 decimals, below 10**20."""


class EntryRow(Base):
    """
    One entry: its place in its stripe's chain, what it belongs to, its postings as four parallel arrays, its figures.

    `facts` are what a result, a cancellation or voids recorded, as `domain.facts` writes it; null for anything else.
    The views `results`, `hands`, `settlements` and `cancellations` show their columns.

    An entry of a round carries the round's key and its step, the round's own count of entries from 1. Casino, table and
    rules version are those of its figures, and empty, or 0, where there is none. The view `postings` shows one row a
    posting, `figures` one row a figure.
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
        # For reports of awards: few results made any, and acts are few. Of bets the condition looks at the kind alone.
        Index(
            "ix_entries_of_awards",
            "jackpot_id",
            "stripe_no",
            "seq",
            postgresql_where=text(
                "kind = 'result'::text AND movements @> ARRAY['award'::text] "
                "OR kind IN ('round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated')"
            ),
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
        CheckConstraint("jsonb_typeof(facts) = 'object' AND facts <> '{}'", name="facts"),
        CheckConstraint(EXACT_FACTS, name="exact_facts"),
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
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    rules_version: Mapped[Count]
    figures: Mapped[list[str]] = mapped_column(ARRAY(FigureType))
    facts: Mapped[dict[str, Any] | None] = mapped_column(JSONB)


class DayRow(Base):
    """
    What the entries of a stripe come to on a day, by whose they are and what tells figures apart: sums of figures.

    Those of entries beyond the stripe's `summed_to` are not among them. `day` is the UTC day on which the entries were
    booked, `gaming_day` their casino's, `cycle` the one that they stand after. What a kind does not have is empty, or
    0; `made_on` differs from the day only of award steps and payments. What corrections take back is negative.
    """

    __tablename__ = "days"
    __table_args__ = (
        PrimaryKeyConstraint(
            "jackpot_id",
            "kind",
            "day",
            "stripe_no",
            "table_id",
            "currency",
            "account",
            "tier",
            "detail",
            "cycle",
            "gaming_day",
            "rules_version",
            "casino_id",
            "made_on",
        ),
        CheckConstraint("cycle >= 1", name="cycle"),
        CheckConstraint("scale(minor) = 0 AND abs(minor) < 'Infinity'", name="minor"),
        # What was accepted is added later, in transactions of others, which no bound may make fail.
        CheckConstraint("scale(value) <= 36 AND abs(value) < 'Infinity'", name="exact"),
        {"postgresql_with": {"fillfactor": "50"}},
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[date]
    cycle: Mapped[Count]
    gaming_day: Mapped[date]
    kind: Mapped[Key]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    rules_version: Mapped[Count]
    currency: Mapped[Key]
    account: Mapped[Key]
    tier: Mapped[Key]
    detail: Mapped[Key]
    made_on: Mapped[date]
    number: Mapped[Position]
    minor: Mapped[Amount]
    value: Mapped[Amount]


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
