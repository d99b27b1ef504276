"""A report in each format, against what JSON says: every cell in its place, to the last digit, and nothing besides."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from io import StringIO
from typing import Any, Final

from tests.support.answers import Body
from tests.support.workbooks import Cell, Sheet

DECIMALS: Final = {"EUR": 2, "GBP": 2, "SEK": 2, "JPY": 0}

DIGITS: Final = {"number": 10, "percent": 4}

PATTERNS: Final = {0: "#,##0", 2: "#,##0.00", 4: "#,##0.0000", 10: "#,##0.0000000000"}
"""How a workbook shows numbers of so many decimals."""

SPREADSHEET: Final = Context(prec=15, traps=[])
"""What a spreadsheet knows of a number; a file has one digit more, of what is nearest to it in binary."""


def texts(section: Body) -> list[list[str]]:
    """The rows of a section cell by cell, nothing as the empty text."""
    names = [column["name"] for column in section["columns"]]
    return [["" if row[name] is None else str(row[name]) for name in names] for row in section["rows"]]


def require_csv(written: str, section: Body) -> None:
    names = [column["name"] for column in section["columns"]]
    assert list(csv.reader(StringIO(written, newline=""))) == [names, *texts(section)]


def require_terminal(printed: str, document: Body) -> None:
    """A terminal shows the head, then each section under its title, and nothing as a dash."""
    _, *tables = printed.rstrip("\n").split("\n\n")
    for table, section in zip(tables, document["sections"], strict=True):
        title, *lines = table.split("\n")
        assert title == section["title"]
        shown = [[_shown(column, row) for column in section["columns"]] for row in section["rows"]]
        assert [re.split(" {2,}", line.strip()) for line in lines] == [[*map(_title, section["columns"])], *shown]


def _shown(column: Body, row: Body) -> str:
    """An amount has every digit, and at least the decimals of its currency; a per cent two; a time whole seconds."""
    value = row[column["name"]]
    if value is None:
        return "-"
    match column["type"]:
        case "amount":
            whole, _, decimals = f"{Decimal(value):,f}".partition(".")
            decimals = decimals.ljust(DECIMALS[column["currency"] or row[column["currency_in"]]], "0")
            return f"{whole}.{decimals}" if decimals else whole
        case "percent":
            return f"{SPREADSHEET.quantize(Decimal(value), Decimal('0.01')):,f}"
        case "count" | "number":
            return f"{Decimal(value):,f}"
        case "instant":
            return f"{value[:10]} {value[11:19]}Z"
        case _:
            return str(value)


def require_workbook(sheets: Mapping[str, Sheet], document: Body) -> None:
    """A workbook has each figure as a number, rounded half up to its precision, and beside it as exact text."""
    assert [*sheets] == ["head", *(section["name"] for section in document["sections"])]
    for section in document["sections"]:
        titles, *cells = sheets[section["name"]]
        expected = [_cells(section["columns"], row) for row in section["rows"]]
        assert [_content(cell) for cell in titles] == list(_titles(section["columns"]))
        width = len(titles)
        assert [[*map(_content, row), *[None] * (width - len(row))] for row in cells] == expected


def _titles(columns: Sequence[Body]) -> Iterator[str]:
    for column in columns:
        yield _title(column)
        if _is_figure(column):
            yield f"{_title(column)} (exact)"


def _cells(columns: Sequence[Body], row: Body) -> list[Any]:
    """What a row's cells hold: texts, or numbers and the formats in which they are shown."""
    cells: list[Any] = []
    for column in columns:
        value = row[column["name"]]
        if value is None:
            cells += [None, None] if _is_figure(column) else [None]
        elif column["type"] == "count":
            cells.append((Decimal(value), PATTERNS[0]))
        elif _is_figure(column):
            digits = _digits(column, row)
            rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, Context(prec=60, traps=[]))
            cells += [(rounded, PATTERNS[digits]), value]
        else:
            cells.append(value)
    return cells


def _content(cell: Cell | None) -> object:
    if cell is None:
        return None
    assert cell.formula is None
    assert cell.text != "-0"
    return (SPREADSHEET.create_decimal(cell.text), cell.number_format) if cell.is_number else cell.text


def _digits(column: Body, row: Body) -> int:
    if column["type"] != "amount":
        return DIGITS[column["type"]]
    return DECIMALS[row[column["currency_in"]] if column["currency_in"] else column["currency"]]


def _is_figure(column: Body) -> bool:
    return column["type"] in {"amount", *DIGITS}


def _title(column: Body) -> str:
    return f"{column['title']}, {column['currency']}" if column["currency"] else str(column["title"])
