"""
Sums over whole days, from the daily rollups: what reports stand on, so that none reads bets or entries of days gone by.

The rows of all stripes are summed. The figures are of everything that is booked: a day's can still rise while some
stripe's clock stands in it or before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select

from jackpot_service.db import Session
from jackpot_service.ledger.rollups_schema import DailyBetsRow, DailyPostingsRow
from jackpot_service.records.schema import JackpotRow

FARTHEST_BEHIND, FARTHEST_AHEAD = timedelta(days=2), timedelta(days=1)
"""How far a gaming day lies from the UTC days of its instants: zones span 26 hours, a day starts up to 24 late."""


class By(StrEnum):
    """What the sums are told apart by; account and movement only those of postings."""

    JACKPOT = "jackpot_id"
    DAY = "day"
    GAMING_DAY = "gaming_day"
    CASINO = "casino_id"
    TABLE = "table_id"
    CURRENCY = "currency"
    ACCOUNT = "account"
    MOVEMENT = "movement"


Key = tuple[Any, ...]
"""The values of the columns that were asked for, in that order: dates of days, ids and words of all else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Days from a first on, up to and without another; None leaves a side open. By UTC, or by each casino's clock."""

    first: date | None = None
    end: date | None = None
    are_gaming_days: bool = False


@dataclass(frozen=True, slots=True)
class BetSums:
    """Bets, their stakes (in minor units: of use by currency only), and their value and its parts in base units."""

    key: Key
    bets: int
    stakes_minor: int
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal


@dataclass(frozen=True, slots=True)
class PostingSums:
    """How many postings there were, and their sum: of use by currency only."""

    key: Key
    lines: int
    amount: Decimal


def of_bets(
    session: Session, days: Days, *, by: Sequence[By], only: Mapping[By, str] | None = None
) -> tuple[BetSums, ...]:
    """
    Sum the bets of some days, told apart and ordered by some columns; `only` states the value of others, or the same.

    Voids and refunds are not in it: they are postings.
    """
    figures = ("bets", "stakes_minor", "value", "meter", "reserve", "prize_fund", "house")
    rows = _sums(session, DailyBetsRow, figures, days, by=by, only=only or {})
    return tuple(
        BetSums(key, int(bets), int(stakes_minor), *parts) for key, (bets, stakes_minor, *parts) in _apart(rows, by)
    )


def of_postings(
    session: Session, days: Days, *, by: Sequence[By], only: Mapping[By, str] | None = None
) -> tuple[PostingSums, ...]:
    """Sum the postings of some days of all entries but bets; see `of_bets`."""
    rows = _sums(session, DailyPostingsRow, ("lines", "amount"), days, by=by, only=only or {})
    return tuple(PostingSums(key, int(lines), amount) for key, (lines, amount) in _apart(rows, by))


def _apart(rows: Sequence[Row[Any]], by: Sequence[By]) -> Iterator[tuple[Key, tuple[Any, ...]]]:
    """Take each row's key and its figures apart."""
    for values in map(tuple, rows):
        yield values[: len(by)], values[len(by) :]


def _sums(
    session: Session,
    table: type[DailyBetsRow | DailyPostingsRow],
    figures: Sequence[str],
    days: Days,
    *,
    by: Sequence[By],
    only: Mapping[By, str],
) -> Sequence[Row[Any]]:
    key = [getattr(table, name.value) for name in by]
    sums = [func.trim_scale(func.sum(getattr(table, figure))) for figure in figures]
    stated = [getattr(table, name.value) == value for name, value in only.items()]
    question = select(*key, *sums).where(*_within(table, days), *stated).group_by(*key).order_by(*key)
    if By.JACKPOT not in only:  # So that each jackpot's days are looked up by themselves, not all days read.
        question = question.where(table.jackpot_id.in_(select(JackpotRow.jackpot_id)))
    return session.execute(question.having(func.count() > 0)).all()


def _within(table: type[DailyBetsRow | DailyPostingsRow], days: Days) -> list[ColumnElement[bool]]:
    """The conditions of the days; those of UTC, which the keys begin with, also where gaming days are asked for."""
    bounds = []
    if days.first is not None:
        bounds.append(table.day >= (days.first - FARTHEST_AHEAD if days.are_gaming_days else days.first))
    if days.end is not None:
        bounds.append(table.day < (days.end + FARTHEST_BEHIND if days.are_gaming_days else days.end))
    if days.are_gaming_days and days.first is not None:
        bounds.append(table.gaming_day >= days.first)
    if days.are_gaming_days and days.end is not None:
        bounds.append(table.gaming_day < days.end)
    return bounds
