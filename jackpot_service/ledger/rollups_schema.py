"""
The daily rollups' tables: what entries add up to, by day, kept in the transactions that book them.

A row belongs to one stripe, so that only whoever holds the stripe's lock touches it. `day` is the UTC day on which the
entries were booked, `gaming_day` their casino's. The application's role may insert rows and raise their sums, no more.
See docs/decisions/daily-rollups.md.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated

from sqlalchemy import CheckConstraint, Date, Numeric, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from jackpot_service.db import Base
from jackpot_service.ledger.schema import Amount, Count, Key, Position, exact

Day = Annotated[date, mapped_column(Date)]

Total = Annotated[Decimal, mapped_column(Numeric)]
"""A whole number that has no bound: a BIGINT that overflowed would refuse a bet that the rules accept."""

HALF_FULL = {"postgresql_with": {"fillfactor": "50"}}
"""Today's rows are updated with every commit; where a page has room for their next versions, no index is touched."""


class DailyBetsRow(Base):
    """
    What the bets of a day came to, by table and currency: entries of the kind `bets`, and no others.

    `value` and its parts are base units of the jackpot. The key begins with jackpot and day: what reports ask by.
    """

    __tablename__ = "daily_bets"
    __table_args__ = (
        PrimaryKeyConstraint("jackpot_id", "day", "stripe_no", "gaming_day", "casino_id", "table_id", "currency"),
        CheckConstraint("bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0", name="stakes"),
        CheckConstraint("value = meter + reserve + prize_fund + house", name="parts"),
        exact("value", "meter", "reserve", "prize_fund", "house"),
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


class DailyPostingsRow(Base):
    """
    What all other entries of a day posted, by account, currency and movement: how many postings, and their sum.

    `casino_id` is that of the entry's round, or whose account it moves; `table_id` that of its round. Either is empty
    where there is none, and without a casino the gaming day is the UTC day.
    """

    __tablename__ = "daily_postings"
    __table_args__ = (
        PrimaryKeyConstraint(
            "jackpot_id",
            "day",
            "stripe_no",
            "gaming_day",
            "casino_id",
            "table_id",
            "account",
            "currency",
            "movement",
        ),
        CheckConstraint("lines >= 1", name="lines"),
        exact("amount"),
        HALF_FULL,
    )

    jackpot_id: Mapped[Key]
    stripe_no: Mapped[Count]
    day: Mapped[Day]
    gaming_day: Mapped[Day]
    casino_id: Mapped[Key]
    table_id: Mapped[Key]
    account: Mapped[Key]
    currency: Mapped[Key]
    movement: Mapped[Key]
    lines: Mapped[Position]
    amount: Mapped[Amount]
