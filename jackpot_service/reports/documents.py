"""What every report is: a head that says what it shows and as of when, and sections of rows with typed columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from jackpot_service.domain.closed_periods import KeptReport
from jackpot_service.ledger.instants import Positions

Value = str | int | Decimal | datetime | date | None
"""What a cell holds: exact, or nothing."""

Row = Sequence[Value]


class Sort(StrEnum):
    """What a column's values are, and so how each format writes them."""

    TEXT = "text"
    COUNT = "count"
    AMOUNT = "amount"
    NUMBER = "number"
    PERCENT = "percent"
    INSTANT = "instant"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Column:
    """
    A column: its name in files and answers, its title for people, the sort of its values.

    An amount is in units of a currency: `currency`, or the one that the column named `currency_in` tells in each row.
    A number is exact and no money, such as a rate; a percent is one hundred times a ratio.
    """

    name: str
    title: str
    sort: Sort = Sort.TEXT
    currency: str | None = None
    currency_in: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """
    A table of a report. Its rows may be read from the books while they are written out: once, and in order.

    `count` tells how many there will be, of rows that may be too many to be held.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Iterable[Row]
    count: Callable[[], int] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """
    A report that was made, at `made_at`, by this version of the service.

    `start` and `end` bound what it covers, the end not included; None is the beginning of the books, and all that was
    booked when it was made. `positions` are those of each book that it stands on, at its end: asked again as of the
    same instant, it says the same. `opening_positions` are those at its start, if it has one, of the jackpots that were
    open by then. `report_version` is that of the report, `kept` what was kept of it, in its version of then, when
    exactly its period was closed.
    """

    name: str
    title: str
    version: str
    made_at: datetime
    start: datetime | None
    end: datetime | None
    scope: Mapping[str, str]
    positions: Mapping[str, Positions]
    opening_positions: Mapping[str, Positions]
    sections: Sequence[Section]
    report_version: int = 1
    kept: KeptReport | None = None

    @property
    def content_sha256(self) -> str | None:
        """The SHA-256 of what it said when its period was closed: none if that was another version of it."""
        return None if self.kept is None or self.kept.report_version != self.report_version else self.kept.sha256

    def narrowed(self, name: str | None) -> "Document":
        """The same with the section of a name only, with none for that of the head; unless one is named, with all."""
        return self if name is None else replace(self, sections=[one for one in self.sections if one.name == name])
