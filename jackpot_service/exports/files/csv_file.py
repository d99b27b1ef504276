"""A section of a report as CSV (RFC 4180), or its head, line by line."""

import csv
import io
from collections.abc import Iterator

from jackpot_service.reports.cells import as_text, head_of
from jackpot_service.reports.documents import Column, Document, Section, Sort, Value

MEDIA_TYPE = "text/csv; charset=utf-8; header=present"

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001  as spreadsheets in Japan do
"""What makes a spreadsheet take a text for a formula."""

APOSTROPHE = "'"


HEAD = (Column("name", "Name"), Column("value", "Value"))


def lines(document: Document) -> Iterator[str]:
    """
    Write the header and then each row of a document's first section, of its head if it has none; lines end in CR LF.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, and so does one that begins with an
    apostrophe: without the first of a text that begins with one, every text is what it was. Figures never get one.
    """
    section = section_of(document)
    yield _line([column.name for column in section.columns])
    for row in section.rows:
        yield _line([_cell(column, value) for column, value in zip(section.columns, row, strict=True)])


def section_of(document: Document) -> Section:
    """What the file is of: the first section, the head if there is none."""
    return document.sections[0] if document.sections else Section("head", "Head", HEAD, head_of(document))


def _cell(column: Column, value: Value) -> str:
    text = as_text(value)
    is_marked = column.sort is Sort.TEXT and text.startswith((*FORMULA, APOSTROPHE))
    return f"{APOSTROPHE}{text}" if is_marked else text


def _line(cells: list[str]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue()
