"""A section of a report as CSV (RFC 4180), line by line."""

import csv
import io
from collections.abc import Iterator

from jackpot_service.reports.documents import Column, Section, Sort, Value
from jackpot_service.reports.files.cells import as_text

MEDIA_TYPE = "text/csv; charset=utf-8; header=present"

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula."""


def lines(section: Section) -> Iterator[str]:
    """
    Write the header and then each row, every line with its CR LF.

    A text that a spreadsheet would take for a formula gets an apostrophe in front; figures never do.
    """
    yield _line([column.name for column in section.columns])
    for row in section.rows:
        yield _line([_cell(column, value) for column, value in zip(section.columns, row, strict=True)])


def _cell(column: Column, value: Value) -> str:
    text = as_text(value)
    return f"'{text}" if column.sort is Sort.TEXT and text.startswith(FORMULA) else text


def _line(cells: list[str]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue()
