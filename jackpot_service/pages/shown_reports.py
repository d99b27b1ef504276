"""
A report as a page shows it: sections of cells, each as a person reads it, with its exact value and where it leads.

Nothing is summed here. Totals are sections of the report itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Final, Protocol

from markupsafe import Markup

from jackpot_service.pages import figures
from jackpot_service.reports.documents import Column, ColumnType, Document, Row, Section, Value, as_text

NamedRow = Mapping[str, Value]
"""The values of a row by the names of its columns."""

FIGURES: Final = frozenset({ColumnType.AMOUNT, ColumnType.COUNT, ColumnType.NUMBER, ColumnType.PERCENT})

LONGEST_WHOLE: Final = 32
"""Characters of a text that stands on one line, however narrow the window is."""

WORDS: Final = frozenset({"tier", "policy", "funded_by", "paid_from", "kind", "state", "movement", "resolution"})
"""Columns that hold words of the contract, such as four_of_a_kind."""

PLACES: Final = frozenset({"entries", "entry", "accepted_by", "refunded_by"})
"""Columns that hold places of entries, `stripe.seq`, with spaces between."""


class Links(Protocol):
    """Where the values of a report lead; None for one that leads nowhere."""

    def value_address(self, section: str, column: Column, row: NamedRow) -> str | None:
        """Return where the value of a column leads, in a row of a section of this name."""

    def entry_address(self, row: NamedRow, place: str) -> str | None:
        """Return where the place of an entry leads, `stripe.seq`, in a row."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that a person reads, and the address to which it leads."""

    text: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """The head of a column; `unit` is the currency of all its amounts, or the title of the column that says it."""

    title: str
    unit: str
    is_figure: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of a column in a row: most often one piece; several if it lists places of entries."""

    pieces: Sequence[Piece]
    is_figure: bool
    is_code: bool

    @property
    def is_long(self) -> bool:
        """Whether it is a text that breaks wherever a line ends."""
        return any(len(piece.text) > LONGEST_WHOLE and not isinstance(piece.text, Markup) for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ShownSection:
    """Some rows of a section, from the place `first` on, and whether there are more."""

    name: str
    title: str
    columns: Sequence[ShownColumn]
    rows: Sequence[Sequence[Cell]]
    first: int
    has_more: bool

    @property
    def last(self) -> int:
        """The place after the last row that is shown."""
        return self.first + len(self.rows)


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows of each section are shown: so many, from a place on; exact amounts, or cut to their decimals."""

    first: int
    rows: int
    is_exact: bool


def shown_sections(document: Document, window: Window, links: Links) -> Iterator[ShownSection]:
    """Show the sections of a report, one after the other: their rows are read meanwhile."""
    for section in document.sections:
        with closing(section):
            read = list(islice(section.rows, window.first, window.first + window.rows + 1))
        yield _shown(section, read, window, links)


def _shown(section: Section, read: Sequence[Row], window: Window, links: Links) -> ShownSection:
    rows = read[: window.rows]
    named = [dict(zip((column.name for column in section.columns), row, strict=True)) for row in rows]
    currencies = {column.currency_in for column in section.columns if column.currency_in is not None}
    titles = {column.name: column.title for column in section.columns if column.name in currencies}
    units = {column.name: _unit(column, named) for column in section.columns}
    cells = [
        [
            _cell(
                section.name,
                column,
                row,
                links,
                is_exact=window.is_exact,
                has_code=not units[column.name] and column.currency_in not in titles,
            )
            for column in section.columns
        ]
        for row in named
    ]
    heads = [
        ShownColumn(
            column.title,
            units[column.name] or (_in_column(column, titles) if len(titles) > 1 else ""),
            column.type in FIGURES,
        )
        for column in section.columns
    ]
    return ShownSection(section.name, section.title, heads, cells, window.first, len(read) > window.rows)


def _currency(column: Column, row: NamedRow) -> str | None:
    currency = column.currency if column.currency_in is None else row[column.currency_in]
    return None if currency is None else str(currency)


def _unit(column: Column, rows: Sequence[NamedRow]) -> str:
    """Return the one currency of a column's amounts; empty if they have several, or there are none."""
    if column.type is not ColumnType.AMOUNT:
        return ""
    currencies = {_currency(column, row) for row in rows if row[column.name] is not None}
    return next(iter(currencies)) or "" if len(currencies) == 1 else ""


def _in_column(column: Column, titles: Mapping[str, str]) -> str:
    """Return the title of the column that says the currencies of a column's amounts."""
    return titles.get(column.currency_in or "", "").lower()


def _cell(section: str, column: Column, row: NamedRow, links: Links, *, is_exact: bool, has_code: bool) -> Cell:
    value, is_figure = row[column.name], column.type in FIGURES
    if value is None or value == "":
        return Cell((), is_figure, is_code=False)
    if column.name in PLACES and not is_figure:
        places = str(value).split()
        return Cell([Piece(place, links.entry_address(row, place)) for place in places], is_figure=False, is_code=True)
    currency = _currency(column, row) if column.type is ColumnType.AMOUNT else None
    text = _text(column, value, currency, is_exact=is_exact, has_code=has_code)
    return Cell((Piece(text, links.value_address(section, column, row)),), is_figure, is_code=False)


def _text(column: Column, value: Value, currency: str | None, *, is_exact: bool, has_code: bool) -> str:
    """Write a value; its exact one stands in the mark-up."""
    match value:
        case datetime():
            return _timed(figures.moment(value), value)
        case date():
            return _timed(figures.day(value), value)
        case Decimal() if currency is not None:
            return figures.amount(value, currency, is_exact=is_exact, has_code=has_code)
        case Decimal() | int() if column.type in FIGURES:
            is_cut = column.type is ColumnType.PERCENT and not is_exact
            text = figures.hundredths(Decimal(value), has_sign=False) if is_cut else figures.number(value)
            return Markup('<data value="{}">{}</data>').format(as_text(value), text)
        case str() if column.name in WORDS:
            return Markup('<data value="{}">{}</data>').format(value, figures.label(value))
        case _:
            return as_text(value)


def _timed(text: str, value: datetime | date) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(as_text(value), text)
