"""How a report is asked: the instants that it stands on are fixed first, then it is read in one snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import sqlalchemy

from jackpot_service.db import read, snapshot, transact
from jackpot_service.domain.errors import Conflict
from jackpot_service.reports.documents import Document, Section
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


@contextmanager
def made(engine: sqlalchemy.Engine, report: Report, asked: Asked, *, now: datetime) -> Iterator[Document]:
    """
    Make a report; its rows are read as long as the block runs.

    Raises: BadQuestion, UnknownJackpot, UnknownCasino; what `resolve_instant` raises.
    """
    frame.require_possible(report, asked)
    resolved = _resolved(engine, asked, now=now)
    with snapshot(engine) as session:
        yield frame.make(session, report, asked, resolved, made_at=now)


def _resolved(engine: sqlalchemy.Engine, asked: Asked, *, now: datetime) -> Resolved:
    """Fix each instant in each book, by a transaction of its own: one touches one jackpot."""
    books = read(engine, lambda session: frame.books_of(session, asked))
    instants = [instant for instant in (asked.start, asked.end) if instant is not None]
    return {
        (book, instant): transact(engine, partial(resolve_instant, book=book, instant=instant, now=now))
        for book in books
        for instant in instants
    }


def section_of(document: Document, name: str | None) -> Section:
    """The section of a name, or the first. Raises: BadQuestion."""
    for section in document.sections:
        if name in {None, section.name}:
            return section
    names = ", ".join(section.name for section in document.sections)
    message = f"The report {document.name} has no section {name}; it has {names}."
    raise BadQuestion(message)


def rows_of(section: Section) -> Iterator[dict[str, str | int | None]]:
    """Write rows as JSON shows them: counts as numbers, all else as exact texts. Raises: ReportTooLong."""
    names = [column.name for column in section.columns]
    for number, row in enumerate(section.rows):
        if number == MOST_ROWS:
            message = f"{section.title} has more than {MOST_ROWS:,} rows: ask for a file, or for less."
            raise ReportTooLong(message, section=section.name, rows=MOST_ROWS)
        shown = [value if value is None or type(value) is int else as_text(value) for value in row]
        yield dict(zip(names, shown, strict=True))
