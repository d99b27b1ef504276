"""The tables of the sums of days."""

from datetime import date
from decimal import Decimal

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class _SummedFigures:
    """The columns that days and past days share: what figures are attributed to, their other keys, and their sums."""

    jackpot_id: Mapped[str] = primary_key()
    day: Mapped[date] = primary_key()
    cycle: Mapped[Count] = primary_key()
    gaming_day: Mapped[date] = primary_key()
    kind: Mapped[str] = primary_key()
    casino_id: Mapped[str] = primary_key()
    table_id: Mapped[str] = primary_key()
    rules_version: Mapped[Count] = primary_key()
    currency: Mapped[str] = primary_key()
    account: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    detail: Mapped[str] = primary_key()
    made_on: Mapped[date] = primary_key()
    number: Mapped[int]
    minor: Mapped[Decimal]
    value: Mapped[Decimal]


class DayRow(_SummedFigures, Base):
    """
    The sums of the figures of a stripe's entries on a day, by what figures are attributed to and their other keys.

    Those of entries beyond the stripe's `summed_to` are not among them. `day` is the UTC day on which the entries were
    booked, `gaming_day` their casino's, `cycle` the one that they stand after. A column that a kind does not use is
    empty, or 0; `made_on` differs from the day only of award steps and payments. Figures taken back are negative.
    """

    __tablename__ = "days"

    stripe_no: Mapped[Count] = primary_key()


class PastDayRow(_SummedFigures, Base):
    """The sums of a day that is over, of all stripes together; otherwise as `DayRow`. Written once, when it is read."""

    __tablename__ = "past_days"
