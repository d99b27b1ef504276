"""
Charts: exact figures of a report, each with its text, and the same as numbers for pixels.

A float is born here and nowhere else on pages, and only to place a point. The read-out and the table of a
chart show the texts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from jackpot_service.pages import figures

_DAY_S: Final = 86_400

_STEPS_OF_DAYS: Final = tuple(days * _DAY_S for days in (1, 2, 3, 5, 7, 10, 15, 30, 60, 90, 180, 365, 1825))
"""Distances between the labels of days, in seconds: a chart of days has no hours."""


class Kind(StrEnum):
    """How a series is drawn; each area is stacked upon the areas before it."""

    LINE = "line"
    STEP = "step"
    AREA_STACKED = "area-stacked"
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class Series:
    """Exact values, one for each row of a chart, and how a person reads each; None and "" where there is no value."""

    label: str
    kind: Kind
    values: tuple[Decimal | None, ...]
    texts: tuple[str, ...]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """A range around what is drawn: from `low` to `high` in each row; None in both where there is none."""

    label: str
    low: tuple[Decimal | None, ...]
    high: tuple[Decimal | None, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """An event at a row, which counts from 0, and the page about it, if there is one."""

    row: int
    text: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """
    Series over days, or over instants, in ascending order.

    Raises: ValueError if a series has another length than `x`, `x` does not ascend, or a mark stands at no row.
    """

    title: str
    x: tuple[date, ...] | tuple[datetime, ...]
    series: tuple[Series, ...]
    band: Band | None = None
    marks: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        columns = [each.values for each in self.series] + [each.texts for each in self.series]
        if self.band is not None:
            columns += [self.band.low, self.band.high, self.band.texts]
        if any(len(column) != len(self.x) for column in columns):
            raise ValueError("Each series has a value and a text for each row.")
        if any(later <= earlier for earlier, later in pairwise(map(_seconds, self.x))):
            raise ValueError("The rows of a chart ascend.")
        if any(not 0 <= mark.row < len(self.x) for mark in self.marks):
            raise ValueError("A mark stands at a row.")

    @property
    def when(self) -> tuple[str, ...]:
        """Each row's day or instant, as a person reads it."""
        return tuple(figures.moment(at) if isinstance(at, datetime) else figures.day(at) for at in self.x)

    @property
    def is_of_days(self) -> bool:
        """Whether the rows are days, not instants."""
        return not any(isinstance(at, datetime) for at in self.x)

    @property
    def description(self) -> str:
        """The drawing in words."""
        if not self.x:
            return f"{self.title}: nothing to draw yet."
        labels = ", ".join(each.label for each in self.series)
        last = ", ".join(f"{each.label} {each.texts[-1]}" for each in self.series if each.texts[-1])
        return (
            f"{self.title}: {labels}, from {self.when[0]} to {self.when[-1]}. At the end: {last or 'no value'}. "
            "Arrow keys read the points. The table has the same figures."
        )

    def rows(self) -> tuple[tuple[str, tuple[str, ...], tuple[Mark, ...]], ...]:
        """The rows of the table: when, the text of each series and of the band, and the marks."""
        texts = [each.texts for each in self.series] + ([self.band.texts] if self.band else [])
        return tuple(
            (when, tuple(column[row] for column in texts), tuple(mark for mark in self.marks if mark.row == row))
            for row, when in enumerate(self.when)
        )

    def drawing(self) -> dict[str, Any]:
        """
        Return the data of the script, for JSON: seconds since 1970, floats for pixels, and with them the exact texts.

        An area's numbers are the sums of the areas up to it. They are added before they are made floats.
        """
        return {
            "x": [_seconds(at) for at in self.x],
            "steps": _STEPS_OF_DAYS if self.is_of_days else None,
            "when": self.when,
            "series": [
                {"label": each.label, "unit": each.unit, "kind": each.kind, "drawn": drawn, "texts": each.texts}
                for each, drawn in zip(self.series, self._heights(), strict=True)
            ],
            "band": self.band
            and {
                "label": self.band.label,
                "low": _floats(self.band.low),
                "high": _floats(self.band.high),
                "texts": self.band.texts,
            },
            "marks": [{"row": mark.row, "text": mark.text, "href": mark.href} for mark in self.marks],
        }

    def _heights(self) -> list[list[float | None]]:
        sums = [Decimal(0)] * len(self.x)
        heights = []
        for each in self.series:
            if each.kind is Kind.AREA_STACKED:
                sums = [below + (value or 0) for below, value in zip(sums, each.values, strict=True)]
                heights.append(_floats(sums))
            else:
                heights.append(_floats(each.values))
        return heights


def series(
    label: str, kind: Kind, values: Iterable[Decimal | None], *, write: Callable[[Decimal], str], unit: str = ""
) -> Series:
    """Return a series whose texts are written by a function, such as one of `figures`."""
    exact = tuple(values)
    return Series(label, kind, exact, tuple("" if value is None else write(value) for value in exact), unit)


def band(label: str, ranges: Iterable[tuple[Decimal, Decimal] | None], *, write: Callable[[Decimal], str]) -> Band:
    """Return a band of the lowest and highest values of each row; None where a row has none."""
    pairs = tuple(ranges)
    return Band(
        label,
        tuple(pair and pair[0] for pair in pairs),
        tuple(pair and pair[1] for pair in pairs),
        tuple("" if pair is None else f"{write(pair[0])} to {write(pair[1])}" for pair in pairs),
    )


def _seconds(at: date) -> float:
    """Seconds since 1970; a day is its beginning in UTC."""
    instant = at if isinstance(at, datetime) else datetime.combine(at, time(), UTC)
    return instant.timestamp()


def _floats(values: Sequence[Decimal | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]
