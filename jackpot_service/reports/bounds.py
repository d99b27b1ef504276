"""What bounds a report that somebody waits for: how many rows are held in memory, and how long they are read."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from jackpot_service.database.transactions import HeldUp
from jackpot_service.domain.errors import Conflict
from jackpot_service.reports.documents import Document, Row, Section

MOST_ROWS = 10_000
"""Rows of a section in an answer that is held in memory; files have no such bound."""


class ReportTooLong(Conflict):
    """More rows than an answer holds."""

    code = "report-too-long"
    title = "The report has too many rows for this"


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
