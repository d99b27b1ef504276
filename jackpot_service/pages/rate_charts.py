"""Rates through time, as charts: a step at each sheet, and the band around the sheet before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import flask

from jackpot_service.pages import charts, figures
from jackpot_service.pages.charts import Chart, Kind, Mark
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports.rates import RatesThen


@dataclass(frozen=True, slots=True)
class Step:
    """A sheet that was in force from an instant on, or is to be, and a currency's rate in it."""

    at: datetime
    head: SheetHead | None
    rate: Decimal | None


def chart_of(currency: str, base: str, then: Sequence[RatesThen], *, band: Decimal, at: datetime) -> Chart:
    """Draw the rate of a currency by the sheets of its base currency; a mark leads to each sheet."""
    steps = list(_steps(currency, then, at=at))
    ranges: list[tuple[Decimal, Decimal] | None] = []
    before: Decimal | None = None
    for step in steps:
        if step.head is None:
            ranges.append(ranges[-1] if ranges else None)
            continue
        ranges.append(None if before is None else (before * (1 - band), before * (1 + band)))
        before = step.rate
    return Chart(
        f"{base} for one {currency}",
        tuple(step.at for step in steps),
        (charts.series(currency, Kind.STEP, (step.rate for step in steps), write=figures.number),),
        charts.band(f"Band of {figures.per_cent(band)} around the sheet before", ranges, write=figures.number),
        tuple(_mark(row, step) for row, step in enumerate(steps)),
    )


def _steps(currency: str, then: Sequence[RatesThen], *, at: datetime) -> Iterator[Step]:
    """
    Yield the sheets as they come into force, and now.

    Of sheets with the same effective time only that of the highest number is ever in force.
    """
    by_time = {sheet.head.effective_at: sheet for sheet in sorted(then, key=lambda sheet: sheet.head.number)}
    in_force: Decimal | None = None
    is_now_due = at not in by_time
    for effective_at in sorted(by_time):
        if is_now_due and effective_at > at:
            yield Step(at, None, in_force)
            is_now_due = False
        sheet = by_time[effective_at]
        in_force = next((rate.base_per_unit for rate in sheet.rates if rate.currency == currency), None)
        yield Step(effective_at, sheet.head, in_force)
    if is_now_due and by_time:
        yield Step(at, None, in_force)


def _mark(row: int, step: Step) -> Mark:
    if step.head is None:
        return Mark(row, "now")
    address = flask.url_for("pages.show_sheet", base=step.head.base, number=step.head.number)
    return Mark(row, f"sheet {step.head.number}", address)
