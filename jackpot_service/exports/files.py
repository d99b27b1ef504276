"""Reports as CSV (RFC 4180) and as JSON rows; and the names of their files."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from jackpot_service.reports.documents import HEAD, Column, ColumnType, Document, Section, Value, as_text, head_of

CSV_TYPE: Final = "text/csv; charset=utf-8; header=present"

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001  as spreadsheets in Japan do
"""A spreadsheet takes a text that begins with one of these for a formula."""

APOSTROPHE: Final = "'"

_AS_THEY_ARE: Final = {str, int, type(None)}
"""The types of values that JSON shows as they are. A long list has mostly these."""

_HEAD_COLUMNS: Final = (Column("name", "Name"), Column("value", "Value"))


def file_name(report: str, made_at: datetime, ending: str) -> str:
    """Return the name of the file of a report, made at a time, to the second."""
    return f"{report}-{made_at.astimezone(UTC):%Y%m%dT%H%M%SZ}.{ending}"


def csv_lines(document: Document) -> Iterator[str]:
    """
    Write the header and then each row of a document's first section, of its head if it has none; lines end in CR LF.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, and so does one that begins with an
    apostrophe. Without that first apostrophe every text is what it was. Figures never get one.
    """
    section = section_of(document)
    yield _csv_line([column.name for column in section.columns])
    for row in section.rows:
        yield _csv_line([_cell(column, value) for column, value in zip(section.columns, row, strict=True)])


def section_of(document: Document) -> Section:
    """Return the section of a CSV file: the first, or the head if there is none."""
    return document.sections[0] if document.sections else Section(HEAD, "Head", _HEAD_COLUMNS, head_of(document))


def _cell(column: Column, value: Value) -> str:
    text = as_text(value)
    is_marked = column.type is ColumnType.TEXT and text.startswith((*FORMULA, APOSTROPHE))
    return f"{APOSTROPHE}{text}" if is_marked else text


def _csv_line(cells: list[str]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue()


def json_rows(section: Section) -> Iterator[dict[str, str | int | None]]:
    """Name each value by its column; counts are numbers, all else exact texts."""
    names = [column.name for column in section.columns]
    for row in section.rows:
        shown: list[Any] = [value if type(value) in _AS_THEY_ARE else as_text(value) for value in row]
        yield dict(zip(names, shown, strict=True))
