"""Every report's form: a head that states its question and the positions it stands on, and sections of typed rows."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import orjson

from jackpot_service.domain.closed_periods import KeptReport
from jackpot_service.domain.money import plain
from jackpot_service.ledger.instants import Positions

Value = str | int | Decimal | datetime | date | None
"""The value of a cell: exact, or nothing."""

Row = Sequence[Value]

NamedRow = Mapping[Any, Any]
"""Values by the names of columns: a row of a statement, or one with further values."""

HEAD: Final = "head"
"""The name of the head, for a question about one section."""


class ColumnType(StrEnum):
    """The type of a column's values, by which each format writes them."""

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
    A column: its name in files, answers and statements, its title for people, the type of its values.

    An amount is in units of a currency: `currency`, or each row's value of the column `currency_in`. A number is exact
    and no money, such as a rate; a percent is one hundred times a ratio.
    """

    name: str
    title: str
    type: ColumnType = ColumnType.TEXT
    currency: str | None = None
    currency_in: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """
    A table of a report. Its rows may be read from the books while they are written out: once, and in order.

    `count` counts rows that may be too many to be held.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Iterable[Row]
    count: Callable[[], int] | None = None

    def close(self) -> None:
        """End the reading of its rows, wherever it stands: until then the books may answer nothing else."""
        close = getattr(self.rows, "close", None)
        if close is not None:
            close()


@dataclass(frozen=True, slots=True)
class Document:
    """
    A report that was made, at `made_at`, by this version of the service.

    `start` and `end` bound its period, the end not included; None is the beginning of the books, and all that was
    booked when it was made. `positions` are those of each of its books, at its end: as of the same instant, it is the
    same for ever. `opening_positions` are those at its start, if it has one, of the jackpots that were open by then.
    `kept_report` is the hash, and the version of the report, that was kept when exactly its period was closed. `signs`
    says who owes a positive balance, in a report of balances. Like titles it is no part of the hash. Read at a replica,
    it lacks nothing from before `fresh_at`, by the steady clock.
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
    kept_report: KeptReport | None = None
    signs: str | None = None
    fresh_at: float | None = None

    @property
    def content_sha256(self) -> str | None:
        """The SHA-256 of its content when its period was closed: none if that was another version of it."""
        return (
            None
            if self.kept_report is None or self.kept_report.report_version != self.report_version
            else self.kept_report.sha256
        )

    def narrowed(self, name: str | None) -> "Document":
        """Return it with the section of a name only, with none for that of the head; unless one is named, with all."""
        return (
            self
            if name is None
            else replace(self, sections=[section for section in self.sections if section.name == name])
        )


def rows_of(columns: Sequence[Column], named: Iterable[NamedRow]) -> Iterator[Row]:
    """Return rows from mappings that hold, among other values, one by the name of each column."""
    names = [column.name for column in columns]
    for named_row in named:
        yield tuple(named_row[name] for name in names)


def as_text(value: Value) -> str:
    """Return a value as text, the same in every format: exact, without exponent, times in UTC; nothing is ''."""
    match value:
        case None:
            return ""
        case Decimal():
            return plain(value)
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def head_of(document: Document) -> list[tuple[str, str]]:
    """Return a report's head as names and texts, in the order in which people read it."""
    return [
        ("report", document.name),
        ("title", document.title),
        *([] if document.signs is None else [("signs", document.signs)]),
        ("from", as_text(document.start) or "the beginning"),
        ("to", as_text(document.end) or "all that was booked"),
        *document.scope.items(),
        ("made at", as_text(document.made_at)),
        ("version", document.version),
        *_closed(document),
        *_positions("opening position", document.opening_positions),
        *_positions("position", document.positions),
    ]


def _positions(name: str, positions: Mapping[str, Positions]) -> list[tuple[str, str]]:
    return [(f"{name} of {book}", ".".join(map(str, seqs))) for book, seqs in sorted(positions.items())]


def _closed(document: Document) -> list[tuple[str, str]]:
    if document.kept_report is None:
        return []
    if document.content_sha256 is not None:
        return [("closed as", document.content_sha256)]
    then, now = document.kept_report.report_version, document.report_version
    return [("closed in", f"version {then} of the report, whose version is {now} now: no hash of this was kept")]


def sha256_of(document: Document) -> str:
    """
    Compute the SHA-256 of a report's question, positions and rows; not of when and by which version it was made.

    It reads all rows. The lines of JSON under the hash are: one for the head, one for each section's columns, one a
    row. Strangers compute it from answers by docs/reports.md, which says the same; a change of it raises all report
    versions.
    """
    digest = hashlib.sha256()
    head = [
        document.name,
        as_text(document.start),
        as_text(document.end),
        sorted(document.scope.items()),
        sorted((book, list(positions)) for book, positions in document.positions.items()),
    ]
    digest.update(_line(head))
    for section in document.sections:
        digest.update(_line([section.name, *(column.name for column in section.columns)]))
        for row in section.rows:
            digest.update(_line([as_text(value) for value in row]))
    return digest.hexdigest()


def _line(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
