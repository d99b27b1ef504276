"""
The daily rollups' tables: what entries add up to, by day, kept in the transactions that book them.

A row belongs to one stripe, of payments to the reference book's, so that only whoever holds its lock touches it. `day`
is the UTC day on which the entries were booked, `gaming_day` their casino's. The application's role may insert rows and
raise their sums, no more; of `recent_bets` it may insert and remove them.
See docs/decisions/days.md.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated

from sqlalchemy import CheckConstraint, Date, Numeric, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import UserDefinedType

from jackpot_service.database.transactions import Base
from jackpot_service.ledger.schema import Amount, Count, Key, Position, exact

Day = Annotated[date, mapped_column(Date)]

Total = Annotated[Decimal, mapped_column(Numeric)]
"""A whole number that has no bound: a BIGINT that overflowed would refuse a bet that the rules accept."""

HALF_FULL = {"postgresql_with": {"fillfactor": "50"}}
"""Today's rows are updated again and again; where a page has room for their next versions, no index is touched."""


class DailyBetsRow(Base):
    """
    What the bets of a day came to, by cycle, table, currency and rules version: entries of the kind `bets`, no others.

    Those still in `recent_bets` are not among them; the view `bets_by_day` shows both. `value` is in base units of the
    jackpot; how the rules of that version split it, they tell. The key begins with jackpot and day: what reports ask
    by; then comes what tells a stripe's rows of a day apart soonest. `cycle` is the one that the entries stand after.
    """

    __tablename__ = "daily_bets"
    __table_args__ = (
        PrimaryKeyConstraint(
            "jackpot_id",
            "day",
            "stripe_no",
            "table_id",
            "currency",
            "cycle",
            "gaming_day",
            "rules_version",
            "casino_id",
        ),
        CheckConstraint("cycle >= 1", name="cycle"),
        CheckConstraint("bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0", name="stakes"),
        # What was accepted is rolled up later, in transactions of others, which no bound may make fail.
        CheckConstraint("scale(value) <= 18 AND abs(value) < 'Infinity'", name="exact"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    cycle: Mapped[Count]
    gaming_day: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    currency: Mapped[Key]
    rules_version: Mapped[Count]
    bets: Mapped[Position]
    stakes_minor: Mapped[Total]
    value: Mapped[Amount]


class BetsSum(UserDefinedType[str]):
    """The type of PostgreSQL: casino, table, currency, rules version, how many bets, their stakes and their value."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Write the type's name."""
        return "bets_sum"


ischema_names["bets_sum"] = BetsSum  # By this the models can be compared with a database.


class RecentBetsRow(Base):
    """
    What the bets of a group of batches came to that were booked together, until that is rolled up into `daily_bets`.

    `seq` is that of the last of their entries on the stripe, which tells the rest: when they were booked, and in which
    cycle. There is a sum for each batch and currency; the view `recent_bets_by_day` shows them as rows like those of
    `daily_bets`.
    """

    __tablename__ = "recent_bets"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "stripe_no", "seq"),
        {"postgresql_with": {"toast_tuple_target": "8160", "vacuum_truncate": "off"}},
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    seq: Mapped[Position]
    sums: Mapped[list[str]] = mapped_column(ARRAY(BetsSum))


class DailyRefundsRow(Base):
    """
    What the entries of a day refunded, by table and currency: voids, cancellations and dead hands.

    What a correction of a round refunds or books again is not here: its act tells that. `adjustments` bore the meter's
    and the reserve's parts of bets whose cycle had been won.
    """

    __tablename__ = "daily_refunds"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "day", "stripe_no", "gaming_day", "casino_id", "table_id", "currency"),
        CheckConstraint("bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0", name="stakes"),
        CheckConstraint("value = meter + reserve + prize_fund + house + adjustments", name="parts"),
        exact("value", "meter", "reserve", "prize_fund", "house", "adjustments"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    gaming_day: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    currency: Mapped[Key]
    bets: Mapped[Position]
    stakes_minor: Mapped[Total]
    value: Mapped[Amount]
    meter: Mapped[Amount]
    reserve: Mapped[Amount]
    prize_fund: Mapped[Amount]
    house: Mapped[Amount]
    adjustments: Mapped[Amount]


class DailyAwardsRow(Base):
    """
    The awards that the settlements of a day made, by table, tier, the pool that pays, currency, and their first state.

    What became of them later, and the awards of corrections, acts tell.
    """

    __tablename__ = "daily_awards"
    __table_args__ = (
        PrimaryKeyConstraint(
            "jackpot_id", "day", "stripe_no", "casino_id", "table_id", "tier", "funded_by", "currency", "state"
        ),
        CheckConstraint("awards >= 1 AND amount_minor >= awards AND scale(amount_minor) = 0", name="amounts"),
        exact("cost"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    tier: Mapped[Key]
    funded_by: Mapped[Key]
    currency: Mapped[Key]
    state: Mapped[Key]
    awards: Mapped[Position]
    amount_minor: Mapped[Total]
    cost: Mapped[Amount]


class DailyPaymentsRow(Base):
    """
    The awards of a jackpot that its casinos said on a day they had paid, by table, tier, pool and currency.

    A payment is an act: it is booked in the reference book, by whose time its day goes, and whose lock keeps its row.
    `made_on` is the day on which the awards were made, by a settlement or by a correction. Casino and table are those
    of their rounds.
    """

    __tablename__ = "daily_payments"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "day", "made_on", "casino_id", "table_id", "tier", "funded_by", "currency"),
        CheckConstraint(
            "awards >= 1 AND amount_minor >= awards AND amount_minor < 'Infinity' AND scale(amount_minor) = 0",
            name="amounts",
        ),
        exact("cost"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    day: Mapped[Day]
    made_on: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    tier: Mapped[Key]
    funded_by: Mapped[Key]
    currency: Mapped[Key]
    awards: Mapped[Position]
    amount_minor: Mapped[Total]
    cost: Mapped[Amount]


class DailyHandsRow(Base):
    """
    The hands with bets that the settlements of a day judged, by the rules version of their rounds.

    `value` is what stood on them in base units, `squares` the sum of the squares of what stood on each. Dead hands are
    not among them.
    """

    __tablename__ = "daily_hands"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "day", "stripe_no", "rules_version"),
        CheckConstraint("hands >= 1 AND value > 0 AND squares > 0", name="hands"),
        exact("value"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    rules_version: Mapped[Count]
    hands: Mapped[Position]
    value: Mapped[Amount]
    squares: Mapped[Decimal] = mapped_column(Numeric)


class DailyPostingsRow(Base):
    """
    What all other entries of a day posted, by cycle, account, currency and movement: how many postings, and their sum.

    `cycle` is the one that the entry stands after: the hit that ends a cycle is of it, the opening of the first.
    `casino_id` is that of the entry's round, or whose account it moves; `table_id` that of its round. Either is empty
    where there is none, and without a casino the gaming day is the UTC day.
    """

    __tablename__ = "daily_postings"
    __table_args__ = (
        PrimaryKeyConstraint(
            "jackpot_id",
            "day",
            "stripe_no",
            "cycle",
            "gaming_day",
            "casino_id",
            "table_id",
            "account",
            "currency",
            "movement",
        ),
        CheckConstraint("cycle >= 1", name="cycle"),
        CheckConstraint("lines >= 1", name="lines"),
        exact("amount"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    cycle: Mapped[Count]
    gaming_day: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    account: Mapped[Key]
    currency: Mapped[Key]
    movement: Mapped[Key]
    lines: Mapped[Position]
    amount: Mapped[Amount]
