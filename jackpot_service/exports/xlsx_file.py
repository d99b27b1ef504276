"""
A report as an Excel workbook: a sheet for its head, one for each section.

A figure of money is a number rounded half up to its currency's minor unit, so that it can be added up. The exact figure
follows as text: a spreadsheet's numbers hold fifteen digits.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import chain, islice
from typing import IO, Any

import xlsxwriter

from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.reports.documents import Column, ColumnType, Document, Row, Section, Value, as_text, head_of

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

MOST_ROWS = 1_000_000
"""Rows of a sheet below its header, of the 1,048,576 that Excel takes; the rest stands on further sheets."""

LONGEST_NAME = 31
"""Of a sheet, in Excel."""

LONGEST_TEXT = 32_767
"""Of a cell, in units of UTF-16; the same text in other formats is whole."""

CUT = " … (cut)"

FIGURES = frozenset({ColumnType.AMOUNT, ColumnType.NUMBER, ColumnType.PERCENT})
"""The types that are written as a number, and as exact text."""

_WIDTHS = {
    ColumnType.AMOUNT: 18,
    ColumnType.NUMBER: 20,
    ColumnType.PERCENT: 12,
    ColumnType.COUNT: 12,
    ColumnType.INSTANT: 28,
    ColumnType.DAY: 12,
    ColumnType.TEXT: 22,
}
"""Of columns, in characters: Excel shows a number that does not fit as `####`. A title goes on in further lines."""

_WIDTH_OF_EXACT = 26
_WIDTHS_OF_HEAD = (22, 60)

_DIGITS = {ColumnType.NUMBER: 10, ColumnType.PERCENT: 4}
_OTHERWISE = 2
_WIDE = Context(prec=100, traps=[])

_OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "use_zip64": True}
"""A sheet of a million rows may be larger than a plain zip holds; smaller ones are written as ever."""


def write(document: Document, file: IO[bytes]) -> None:
    """Write the whole workbook into a file that is open for writing."""
    for _ in steps(document, file):
        pass


def steps(document: Document, file: IO[bytes]) -> Generator[None, None, None]:
    """
    Write a workbook a row at a time, with a pause after each; it is there when the last one is over.

    The same document makes the same bytes: the file says that it was created when the report was made.
    """
    with xlsxwriter.Workbook(file, _OPTIONS) as workbook:
        workbook.set_properties({"created": document.made_at.astimezone(UTC)})
        head = workbook.add_worksheet("head")
        for place, width in enumerate(_WIDTHS_OF_HEAD):
            head.set_column(place, place, width)
        for number, texts in enumerate(head_of(document)):
            for place, text in enumerate(texts):
                head.write_string(number, place, text)
        for section in document.sections:
            yield from _write_section(workbook, section)


def _write_section(workbook: Any, section: Section) -> Iterator[None]:  # noqa: ANN401  the library has no types
    formats = {digits: workbook.add_format({"num_format": _pattern(digits)}) for digits in (0, 1, 2, 3, 4, 10)}
    of_titles = workbook.add_format({"bold": True, "text_wrap": True, "valign": "top"})
    for name, rows in _sheets(section):
        sheet = workbook.add_worksheet(name)
        sheet.freeze_panes(1, 0)
        place = number = 0
        for place, (title, width) in enumerate(_titles(section.columns)):
            sheet.set_column(place, place, width)
            sheet.write_string(0, place, title, of_titles)
        for number, row in enumerate(rows, 1):
            _write_row(sheet, number, section.columns, row, formats)
            yield
        sheet.autofilter(0, 0, number, place)


def _sheets(section: Section) -> Iterator[tuple[str, Iterator[Row]]]:
    """Divide the rows among sheets; the first is there also without any."""
    rows = iter(section.rows)
    yield section.name[:LONGEST_NAME], islice(rows, MOST_ROWS)
    number = 1
    for first in rows:
        number += 1
        yield f"{section.name[: LONGEST_NAME - 5]} {number}", chain([first], islice(rows, MOST_ROWS - 1))


def _titles(columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """Yield the title of each column of a sheet, and how wide it is."""
    for column in columns:
        unit = f", {column.currency}" if column.currency else ""
        yield f"{column.title}{unit}", _WIDTHS[column.type]
        if column.type in FIGURES:
            yield f"{column.title}{unit} (exact)", _WIDTH_OF_EXACT


def _write_row(
    sheet: Any,  # noqa: ANN401
    number: int,
    columns: Sequence[Column],
    row: Row,
    formats: Mapping[int, Any],
) -> None:
    currencies = {column.name: value for column, value in zip(columns, row, strict=True)}
    place = 0
    for column, value in zip(columns, row, strict=True):
        if value is None:
            place += 1 + (column.type in FIGURES)
            continue
        if column.type in FIGURES:
            digits = _digits(column, currencies)
            sheet.write_number(number, place, _rounded(value, digits), formats[digits])
            place += 1
        elif column.type is ColumnType.COUNT:
            sheet.write_number(number, place, value, formats[0])
        if column.type is not ColumnType.COUNT:
            sheet.write_string(number, place, _fitting(as_text(value)))
        place += 1


def _fitting(text: str) -> str:
    """Cut a text that no cell holds, so that one sees it; Excel would drop what is too much without a word."""
    units = text.encode("utf-16-le")
    if len(units) <= 2 * LONGEST_TEXT:
        return text
    return units[: 2 * (LONGEST_TEXT - len(CUT))].decode("utf-16-le", "ignore") + CUT


def _digits(column: Column, row: Mapping[str, Value]) -> int:
    code = row[column.currency_in] if column.currency_in else column.currency
    if column.type is not ColumnType.AMOUNT:
        return _DIGITS[column.type]
    return CURRENCIES[str(code)].exponent if code in CURRENCIES else _OTHERWISE


def _rounded(value: Value, digits: int) -> float:
    """The only float near money, and only in a file for people: the exact figure follows it; 0 has no sign."""
    assert isinstance(value, Decimal | int)  # noqa: S101  narrows a type; what a figure's column holds
    return float(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _WIDE)) + 0.0


def _pattern(digits: int) -> str:
    return "#,##0" + ("." + "0" * digits if digits else "")
