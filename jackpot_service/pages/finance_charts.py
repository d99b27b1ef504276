"""The charts of the finance page: pools by day, and the return of the fixed prizes with its band of chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from jackpot_service.pages import charts, figures
from jackpot_service.pages.charts import Chart, Kind
from jackpot_service.pages.finance_query import FinanceQuery
from jackpot_service.pages.report_rows import Rows

POOLS: Final = {
    "meter players": "Meter: players",
    "meter house": "Meter: house",
    "reserve": "Reserve",
    "prize fund": "Prize fund",
}
"""The pools that are stacked, by their names in the report; together they are what is held in pools."""


def held_by_day(query: FinanceQuery, movements: Rows, totals: Rows) -> Chart:
    """Chart what each pool closed with, by whole days; a day on which nothing moved closes as the one before."""
    opening = {row["pool"]: row["opening"] for row in totals}
    closing = {(row["pool"], row["day"]): row["closing"] for row in movements}
    days = _whole_days(query, movements, is_new=not any(opening.values()))
    write = partial(figures.exact, currency=query.base)
    series = []
    for pool, label in POOLS.items():
        held, values = opening.get(pool, Decimal(0)), []
        for day in days:
            held = closing.get((pool, day), held)
            values.append(held)
        series.append(charts.series(label, Kind.AREA_STACKED, values, write=write))
    return Chart(f"Balances at the end of each day, in {query.base}", days, tuple(series))


def _whole_days(query: FinanceQuery, movements: Rows, *, is_new: bool) -> tuple[date, ...]:
    """
    Return the days that are over: a partial day is no day.

    A jackpot that held nothing before the period is drawn from its first movement on.
    """
    first = min((row["day"] for row in movements), default=query.today) if is_new else query.first_day
    return tuple(first + timedelta(days=number) for number in range((query.today - first).days))


@dataclass(frozen=True, slots=True)
class FixedPrizeReturn:
    """The return of the fixed prizes over the whole period, the last row of the report `rtp-by-day`."""

    row: Mapping[str, Any]

    @property
    def strays(self) -> bool:
        """Whether there is a band: the prize fund pays fixed prizes, and something was played."""
        return self.row["low_percent"] is not None

    @property
    def is_within_chance(self) -> bool:
        """Whether chance alone explains the return, 19 of 20 times."""
        return bool(self.row["low_percent"] <= self.row["actual_percent"] <= self.row["high_percent"])

    @property
    def sentence(self) -> str:
        """Say what was paid, what the rules give, and what chance alone explains."""
        paid, by_rules = (figures.hundredths(self.row[name]) for name in ("actual_percent", "theoretical_percent"))
        low, high = (figures.hundredths(self.row[name]) for name in ("low_percent", "high_percent"))
        verdict = "within chance" if self.is_within_chance else "not by chance alone"
        return f"{paid} paid, {by_rules} by the rules, chance alone {low} to {high}: {verdict}."


def fixed_prize_rows(rows: Rows) -> Rows:
    """Return the rows of the prize fund, which pays the fixed prizes."""
    return [row for row in rows if row["paid_from"] == "prize fund"]


def return_by_day(query: FinanceQuery, cumulative: Rows) -> Chart:
    """Chart the return from the start of the period to each whole day on which something was played."""
    rows = [row for row in fixed_prize_rows(cumulative) if row["day"] < query.today]
    ranges = [None if row["low_percent"] is None else (row["low_percent"], row["high_percent"]) for row in rows]
    write = figures.hundredths
    return Chart(
        "Return from the start of the period to the end of each day, in %",
        tuple(row["day"] for row in rows),
        (
            charts.series("Paid", Kind.LINE, [row["actual_percent"] for row in rows], write=write),
            charts.series("By the rules", Kind.LINE, [row["theoretical_percent"] for row in rows], write=write),
        ),
        charts.band("Chance, 19 of 20 times", ranges, write=write),
    )
