"""How a report is asked: the instants that it stands on are fixed first, then it is read in one snapshot."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import product

import sqlalchemy

from jackpot_service.db import HeldUp, read, snapshot, transact
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Conflict, Unavailable
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.documents import Document, Row, Section
from jackpot_service.reports.files.cells import as_text
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Asked, BadQuestion, Report, Resolved
from jackpot_service.usecases.resolve_instant import resolve_instant

MOST_ROWS = 10_000
"""Rows of a section in an answer that is held in memory; files have no such bound."""


class ReportTooLong(Conflict):
    """More rows than an answer holds."""

    code = "report-too-long"
    title = "The report has too many rows for this"


class ReportTookTooLong(Unavailable):
    """The books hold more than can be looked through while somebody waits."""

    code = "report-took-too-long"
    title = "The report took too long"


@contextmanager
def made(
    engine: sqlalchemy.Engine, report: Report, asked: Asked, *, now: datetime, longest_s: float | None = None
) -> Iterator[Document]:
    """
    Make a report; its rows are read as long as the block runs, which `longest_s` bounds unless it is None.

    Raises: BadQuestion, UnknownJackpot, UnknownCasino, UnknownTable; what `resolve_instant` raises; ReportTookTooLong.
    """
    frame.require_possible(report, asked)
    resolved = _resolved(engine, asked, now=now)
    try:
        with snapshot(engine, longest_s=longest_s) as session:
            document = frame.make(session, report, asked, resolved, made_at=now)
            with _read_no_further(document):
                yield document
    except HeldUp as error:
        message = f"It took longer than {longest_s or 0:g} seconds: ask for less, or make it by the command line."
        raise ReportTookTooLong(message) from error


@contextmanager
def _read_no_further(document: Document) -> Iterator[None]:
    """After the block no row is read any more: whoever stopped in the midst of a list leaves no cursor open."""
    try:
        yield
    finally:
        for section in document.sections:
            if isinstance(section.rows, Generator):
                section.rows.close()


def _resolved(engine: sqlalchemy.Engine, asked: Asked, *, now: datetime) -> Resolved:
    """
    Fix each instant in each book, by a transaction of its own: one touches one jackpot.

    The reference book comes first: from then on no jackpot is opened before the instant, so those that are there then
    are all that ever belong to it. Unknown names are refused before anything is written.
    """
    read(engine, partial(frame.books_of, asked=asked))
    edges = sorted({edge for edge in (asked.start, asked.end) if edge is not None})
    if not edges:
        return {}
    resolved = _fixed(engine, [REFERENCE_BOOK], edges, now=now)
    jackpots = read(engine, partial(frame.books_of, asked=asked))[1:]
    return resolved | _fixed(engine, jackpots, edges, now=now)


def _fixed(
    engine: sqlalchemy.Engine, books: Sequence[str], edges: Sequence[datetime], *, now: datetime
) -> dict[tuple[str, datetime], Positions]:
    found = read(engine, partial(instants.stored_of, books=books, edges=edges))
    return found | {
        (book, edge): transact(engine, partial(resolve_instant, book=book, instant=edge, now=now))
        for book, edge in product(books, edges)
        if (book, edge) not in found
    }


def section_of(document: Document, name: str | None) -> Section:
    """The section of a name, or the first. Raises: BadQuestion."""
    for section in document.sections:
        if name in {None, section.name}:
            return section
    names = ", ".join(section.name for section in document.sections)
    message = f"The report {document.name} has no section {name}; it has {names}."
    raise BadQuestion(message)


def narrowed(document: Document, name: str | None) -> Document:
    """The report with the section of a name only; unless one is named, with all. Raises: BadQuestion."""
    return document if name is None else replace(document, sections=(section_of(document, name),))


def in_time(document: Document, until: float) -> Document:
    """Let the rows of a report be read until an instant of the monotonic clock; who reads on then meets HeldUp."""

    def in_time_only(section: Section) -> Iterator[Row]:
        for row in section.rows:
            if time.monotonic() > until:
                message = "The reading took too long."
                raise HeldUp(message)
            yield row

    return _with_rows(document, in_time_only)


def bounded(document: Document) -> Document:
    """Let no section of a report have more rows than are held in memory; who reads on then meets ReportTooLong."""

    def first_only(section: Section) -> Iterator[Row]:
        for number, row in enumerate(section.rows):
            if number == MOST_ROWS:
                message = f"{section.title} has more than {MOST_ROWS:,} rows: ask for a file, or for less."
                raise ReportTooLong(message, section=section.name, rows=MOST_ROWS)
            yield row

    return _with_rows(document, first_only)


def _with_rows(document: Document, rows: Callable[[Section], Iterable[Row]]) -> Document:
    return replace(document, sections=[replace(section, rows=rows(section)) for section in document.sections])


def rows_of(section: Section) -> Iterator[dict[str, str | int | None]]:
    """Write rows as JSON shows them: counts as numbers, all else as exact texts."""
    names = [column.name for column in section.columns]
    for row in section.rows:
        shown = [value if value is None or type(value) is int else as_text(value) for value in row]
        yield dict(zip(names, shown, strict=True))
