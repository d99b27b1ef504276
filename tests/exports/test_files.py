"""A report as a file: every format holds the same figures, and nothing in it does anything when it is opened."""

import csv
import re
import tracemalloc
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from io import BytesIO, StringIO
from typing import Final
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from jackpot_service.exports import files, xlsx_file
from jackpot_service.reports.documents import Column, ColumnType, Document, Row, Section, as_text, head_of
from tests.support import workbooks

pytestmark = pytest.mark.slow

FORMULAS: Final = ("=1+1", "+1", "-x", "@SUM(A1)", "\tx", "\rx", "\n=1", "＝1", "－x")  # noqa: RUF001  wide ones, too

HARMLESS: Final = ("a", "1=1", "x-y", " =1", "", "é", "日本", "a'b")


def section(*columns: Column, rows: Iterable[Row] = ()) -> Section:
    return Section("some", "Some rows", columns, rows)


def document(*sections: Section, **scope: str) -> Document:
    made_at = datetime(2026, 11, 20, 9, 0, 0, 250_000, tzinfo=UTC)
    start = datetime(2026, 11, 1, tzinfo=UTC)
    positions = {"-": (12,), "j1": (3, 0, 4)}
    opening = {"j1": (2, 0, 0)}
    return Document("some-report", "Some report", "1.2", made_at, start, None, scope, positions, opening, sections)


def written(section_: Section) -> str:
    return "".join(files.csv_lines(document(section_)))


def parsed(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text, newline=""), strict=True))


def workbook(made: Document) -> dict[str, workbooks.Sheet]:
    file = BytesIO()
    xlsx_file.write(made, file)
    return workbooks.read(file.getvalue())


def cells(column: Column, *values: object, **more_columns: Column) -> workbooks.Sheet:
    """The rows of a sheet with one column of a report, without its header."""
    section_ = section(
        column, *more_columns.values(), rows=[value if isinstance(value, tuple) else (value,) for value in values]
    )
    return workbook(document(section_))["some"][1:]


# Cells.


def test_a_value_is_written_exactly_and_the_same_everywhere() -> None:
    assert as_text(None) == ""
    assert as_text(7) == "7"
    assert as_text(Decimal("1E+3")) == "1000"
    assert as_text(Decimal("-0.000000000000000001")) == "-0.000000000000000001"
    assert as_text(Decimal("2.500")) == "2.5"
    assert as_text(date(2026, 1, 2)) == "2026-01-02"
    assert (
        as_text(datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))) == "2026-01-02T01:04:05.000006Z"
    )


def test_the_head_says_what_it_is_of_when_and_where_the_books_stood() -> None:
    assert head_of(document(jackpot="j1")) == [
        ("report", "some-report"),
        ("title", "Some report"),
        ("from", "2026-11-01T00:00:00Z"),
        ("to", "all that was booked"),
        ("jackpot", "j1"),
        ("made at", "2026-11-20T09:00:00.250000Z"),
        ("version", "1.2"),
        ("opening position of j1", "2.0.0"),
        ("position of -", "12"),
        ("position of j1", "3.0.4"),
    ]


# CSV.


def test_csv_is_of_lines_that_end_with_cr_lf_under_a_header() -> None:
    rows = [("a", Decimal("1.50")), ("b", None)]
    text = written(
        section(Column("id", "Id"), Column("amount", "Amount", ColumnType.AMOUNT, currency="EUR"), rows=rows)
    )

    assert text == "id,amount\r\na,1.5\r\nb,\r\n"


def test_csv_keeps_quotes_commas_and_line_ends_inside_a_cell() -> None:
    names = ['say "so"', "a,b", "one\r\ntwo", "one\ntwo", "one\rtwo", '"', ",", " spaced "]

    text = written(
        section(Column("name", "Name"), Column("n", "N", ColumnType.COUNT), rows=[(name, 1) for name in names])
    )

    assert parsed(text) == [["name", "n"], *([name, "1"] for name in names)]
    assert '"say ""so""",1\r\n' in text


def test_csv_hides_formulas_in_texts_and_the_text_can_be_had_back() -> None:
    texts = [*FORMULAS, *HARMLESS, "'quoted", "'=1"]

    cells_ = [row[0] for row in parsed(written(section(Column("text", "Text"), rows=[(text,) for text in texts])))[1:]]

    assert not [cell for cell in cells_ if cell.startswith(files.FORMULA)]
    assert [cell for cell in cells_ if not cell.startswith("'")] == list(HARMLESS)
    assert [cell.removeprefix("'") for cell in cells_] == texts


def test_csv_leaves_figures_as_they_are() -> None:
    columns = [
        Column(sort.value, sort.value, sort) for sort in (ColumnType.AMOUNT, ColumnType.NUMBER, ColumnType.PERCENT)
    ]

    text = written(section(*columns, rows=[(Decimal(-5), Decimal("-0.1"), Decimal(-100))]))

    assert text.splitlines()[1] == "-5,-0.1,-100"


def test_csv_without_a_section_is_the_head_as_every_format_shows_it() -> None:
    made = document(section(Column("a", "A"), rows=[("a",)]), jackpot="=j1").narrowed("head")

    lines = parsed("".join(files.csv_lines(made)))

    assert lines[0] == ["name", "value"]
    assert ["jackpot", "'=j1"] in lines
    assert [[name, value.removeprefix("'")] for name, value in lines[1:]] == [*map(list, head_of(made))]


def test_csv_is_written_in_bounded_memory_however_long_it_is() -> None:
    def rows() -> Iterator[Row]:
        for number in range(100_000):
            yield f"row {number}", Decimal(number)

    columns = (Column("a", "A"), Column("b", "B", ColumnType.AMOUNT, currency="EUR"))
    lines = files.csv_lines(document(section(*columns, rows=rows())))
    tracemalloc.start()
    try:
        count = sum(1 for _ in lines)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 100_001
    assert peak < 1_000_000


# Workbooks.


def test_a_workbook_has_a_sheet_for_its_head_and_one_for_each_section() -> None:
    first, other = section(Column("a", "A"), rows=[("x",)]), Section("empty", "Empty", [Column("b", "B")], [])
    made = document(first, other)

    sheets = workbook(made)

    assert list(sheets) == ["head", "some", "empty"]
    assert workbooks.texts(sheets["head"]) == [list(line) for line in head_of(made)]
    assert workbooks.texts(sheets["some"]) == [["A"], ["x"]]
    assert workbooks.texts(sheets["empty"]) == [["B"]]


@pytest.mark.parametrize(
    ("currency", "amount", "number", "pattern"),
    [
        ("EUR", "12.345", "12.35", "#,##0.00"),
        ("EUR", "-12.345", "-12.35", "#,##0.00"),
        ("EUR", "12.344999999999999999", "12.34", "#,##0.00"),
        ("JPY", "150", "150", "#,##0"),
        ("JPY", "-0.5", "-1", "#,##0"),
        ("BHD", "1.2345", "1.235", "#,##0.000"),
        ("CLF", "1.00005", "1.0001", "#,##0.0000"),
        ("EUR", "123456789012345678.015", "123456789012345700", "#,##0.00"),
    ],
)
def test_money_is_a_number_at_its_currencys_precision_with_the_exact_figure_beside_it(
    currency: str, amount: str, number: str, pattern: str
) -> None:
    ((figure, exact),) = cells(Column("amount", "Amount", ColumnType.AMOUNT, currency=currency), Decimal(amount))

    assert figure is not None
    assert exact is not None
    assert (Decimal(figure.text), figure.number_format) == (Decimal(number), pattern)
    assert (exact.text, exact.is_number) == (amount, False)


def test_money_whose_currency_stands_in_its_row_has_that_ones_precision() -> None:
    amount = Column("amount", "Amount", ColumnType.AMOUNT, currency_in="currency")
    rows = [
        (Decimal("1.005"), "EUR"),
        (Decimal("1.5"), "JPY"),
        (Decimal("1.0005"), "KWD"),
        (None, None),
        (Decimal(1), "XXA"),
    ]

    rows_ = cells(amount, *rows, currency=Column("currency", "Currency"))

    formats = [None if row[0] is None else (row[0].text, row[0].number_format) for row in rows_ if row]
    assert formats == [("1.01", "#,##0.00"), ("2", "#,##0"), ("1.001", "#,##0.000"), ("1", "#,##0.00")]


def test_rates_counts_days_and_instants_are_what_they_are() -> None:
    columns = [Column(sort.value, sort.value.title(), sort) for sort in ColumnType if sort is not ColumnType.AMOUNT]
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    row = ("text", 1234, Decimal("0.0873"), Decimal("-12.34567"), at, date(2026, 1, 2))

    header, rows_ = workbook(document(section(*columns, rows=[row])))["some"]

    titles = ["Text", "Count", "Number", "Number (exact)", "Percent", "Percent (exact)", "Instant", "Day"]
    assert workbooks.texts([header]) == [titles]
    shown = [(cell.text, cell.number_format) for cell in rows_ if cell is not None]
    assert shown == [
        ("text", None),
        ("1234", "#,##0"),
        ("0.0873", "#,##0.0000000000"),
        ("0.0873", None),
        ("-12.3457", "#,##0.0000"),
        ("-12.34567", None),
        ("2026-01-02T03:04:05Z", None),
        ("2026-01-02", None),
    ]


def test_nothing_leaves_its_cells_empty_and_the_others_in_their_columns() -> None:
    columns = [
        Column("a", "A", ColumnType.AMOUNT, currency="EUR"),
        Column("b", "B", ColumnType.COUNT),
        Column("c", "C"),
    ]

    _, rows_ = workbook(document(section(*columns, rows=[(None, None, "x")])))["some"]

    assert [cell and cell.text for cell in rows_] == [None, None, None, "x"]


@pytest.mark.parametrize("text", [*FORMULAS, *HARMLESS, "http://x.example", "_x0041_", "\x07", "x" * 32_767])
def test_a_text_is_a_text_and_never_a_formula_or_a_link(text: str) -> None:
    rows_ = cells(Column("text", "Text"), text)

    (cell,) = rows_[0] if rows_ and rows_[0] else (None,)
    assert text == ("" if cell is None else cell.text)
    assert cell is None or (cell.formula, cell.is_number) == (None, False)


def test_a_text_that_no_cell_holds_says_that_it_was_cut() -> None:
    ((cell,),) = cells(Column("text", "Text"), "x" * 32_768)

    assert cell is not None
    assert len(cell.text) == 32_767
    assert cell.text == f"{'x' * 32_759} … (cut)"


def test_more_rows_than_a_sheet_takes_go_on_on_further_sheets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_file, "MOST_ROWS", 3)
    for count, sheets in ((0, 1), (1, 1), (3, 1), (4, 2), (6, 2), (7, 3)):
        section_ = section(Column("n", "N", ColumnType.COUNT), rows=iter([(number,) for number in range(count)]))

        sheets_by_name = {name: sheet for name, sheet in workbook(document(section_)).items() if name != "head"}

        assert list(sheets_by_name) == ["some", "some 2", "some 3"][:sheets]
        assert all(workbooks.texts(sheet)[0] == ["N"] for sheet in sheets_by_name.values())
        numbers = [row[0] for sheet in sheets_by_name.values() for row in workbooks.texts(sheet)[1:]]
        assert numbers == [str(number) for number in range(count)]


def test_a_sheet_keeps_its_bold_titles_in_sight_filters_by_them_and_has_room_for_its_figures() -> None:
    columns = Column("a", "A", ColumnType.AMOUNT, currency="EUR"), Column("t", "T"), Column("n", "N", ColumnType.COUNT)
    file = BytesIO()
    xlsx_file.write(document(section(*columns, rows=[(Decimal("-1234567890.12"), "x", 1)] * 2)), file)

    with zipfile.ZipFile(file) as parts:
        sheet, styles = (fromstring(parts.read(f"xl/{part}.xml")) for part in ("worksheets/sheet2", "styles"))
    (pane,) = sheet.iter(f"{workbooks.MAIN}pane")
    assert (pane.attrib["ySplit"], pane.attrib["state"]) == ("1", "frozen")
    (filtered,) = sheet.iter(f"{workbooks.MAIN}autoFilter")
    assert filtered.attrib["ref"] == "A1:D3"
    widths = [float(column.attrib["width"]) for column in sheet.iter(f"{workbooks.MAIN}col")]
    assert len(widths) == 4
    assert min(widths[:2]) > len("-1,234,567,890.12")
    fonts, xfs = (list(styles.find(f"{workbooks.MAIN}{name}") or ()) for name in ("fonts", "cellXfs"))
    first, *rest = sheet.iter(f"{workbooks.MAIN}row")
    assert all(is_bold(cell, fonts, xfs) for cell in first)
    assert not any(is_bold(cell, fonts, xfs) for row in rest for cell in row)


def is_bold(cell: Element, fonts: list[Element], xfs: list[Element]) -> bool:
    """Whether the style of a cell has a bold font."""
    style = xfs[int(cell.attrib.get("s", "0"))]
    return fonts[int(style.attrib["fontId"])].find(f"{workbooks.MAIN}b") is not None


def test_a_section_of_a_long_name_has_a_sheet_of_a_name_that_excel_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_file, "MOST_ROWS", 1)
    long = Section("n" * 40, "Long", [Column("n", "N", ColumnType.COUNT)], [(1,), (2,)])

    names = list(workbook(document(long)))[1:]

    assert len(set(names)) == 2
    assert all(len(name) <= 31 for name in names)


def test_the_same_report_is_the_same_workbook_to_the_byte() -> None:
    made = document(section(Column("a", "A"), rows=[("x",), ("y",)]))
    files = [BytesIO(), BytesIO()]
    for file in files:
        xlsx_file.write(made, file)

    assert files[0].getvalue() == files[1].getvalue()
    with zipfile.ZipFile(files[0]) as parts:
        properties = parts.read("docProps/core.xml").decode()
    assert re.findall(r"\d{4}-\d\d-\d\dT[^<]*", properties) == ["2026-11-20T09:00:00Z"] * 2


def test_a_workbook_is_written_with_a_pause_after_each_row_and_may_be_left_in_one() -> None:
    section_ = section(Column("a", "A"), rows=[(f"x{number}",) for number in range(5)])
    file = BytesIO()
    assert len(list(xlsx_file.steps(document(section_, one_more(section_)), file))) == 10
    assert list(workbooks.read(file.getvalue())) == ["head", "some", "more"]

    left = xlsx_file.steps(document(section_), BytesIO())
    next(left)
    left.close()


def one_more(section_: Section) -> Section:
    return replace(section_, name="more")


def test_a_sheet_that_is_larger_than_a_plain_zip_holds_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 2000)
    rows = [(f"number {number}",) for number in range(100)]

    assert len(workbook(document(section(Column("a", "A"), rows=rows)))["some"]) == 101
