"""Amounts as money, aligned; JSON as the API gave it; CSV with every field, and without formulas."""

import csv
import io
import json
from typing import Any

import pytest

from jackpot_service.cli import printing
from jackpot_service.cli.printing import Form


@pytest.mark.parametrize(
    ("minor", "currency", "written"),
    [
        (178_575, "EUR", "1,785.75 EUR"),
        (5, "EUR", "0.05 EUR"),
        (0, "EUR", "0.00 EUR"),
        (-123_456_789, "EUR", "-1,234,567.89 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (1_234_567, "JPY", "1,234,567 JPY"),
        (1_234_567, "BHD", "1,234.567 BHD"),
        (99, "CLF", "0.0099 CLF"),
        (10**17 + 1, "EUR", "1,000,000,000,000,000.01 EUR"),
        (1000, "XXX", "1,000 minor units of XXX"),
        (None, "EUR", "-"),
    ],
)
def test_minor_units_are_written_as_money(minor: int | None, currency: str, written: str) -> None:
    assert printing.money(minor, currency) == written


@pytest.mark.parametrize(
    ("exact", "written"),
    [
        ("5434.05", "5,434.05"),
        ("0", "0"),
        ("-12345678901234567890.1234567891", "-12,345,678,901,234,567,890.1234567891"),
        ("1E+3", "1,000"),
        (1234567, "1,234,567"),
        (None, "-"),
        ("no number", "no number"),
    ],
)
def test_an_exact_text_keeps_every_digit(exact: str | int | None, written: str) -> None:
    assert printing.decimal(exact) == written


@pytest.mark.parametrize(
    ("exact", "currency", "written"),
    [
        ("18054.9", "EUR", "18,054.90"),
        ("-3", "EUR", "-3.00"),
        ("0.00617", "EUR", "0.00617"),
        ("18054", "JPY", "18,054"),
        ("0.5", "BHD", "0.500"),
        ("1.5", "XXX", "1.5"),
        ("1.5", None, "1.5"),
        (None, "EUR", "-"),
        ("no number", "EUR", "no number"),
    ],
)
def test_an_amount_has_at_least_the_decimals_of_its_currency(exact: str, currency: str | None, written: str) -> None:
    assert printing.units(exact, currency) == written


@pytest.mark.parametrize(
    ("exact", "written"),
    [("31.8448918029", "31.84"), ("-0.005", "0.00"), ("1234", "1,234.00"), ("-99.999", "-100.00"), (None, "-")],
)
def test_a_per_cent_has_two_decimals(exact: str | None, written: str) -> None:
    assert printing.hundredths(exact) == written


ITEMS: list[dict[str, Any]] = [
    {"name": "Ann", "amount_minor": 123_456_789, "currency": "JPY", "pool": {"exact": "1.5"}, "note": "a\nb\x1b[2K"},
    {"name": "Bob the third", "amount_minor": -5, "currency": "EUR", "pool": None, "note": "=1+1"},
]
COLUMNS = (
    printing.text("name", "name"),
    printing.minor("amount", "amount_minor"),
    printing.exact("pool", "pool.exact"),
    printing.text("note", "note"),
)


def test_a_table_is_aligned_with_points_under_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_items(ITEMS, COLUMNS, form=None)

    assert capsys.readouterr().out == (
        "name                       amount  pool  note\n"
        "Ann            123,456,789    JPY   1.5  a b\\x1b[2K\n"
        "Bob the third           -0.05 EUR   -    =1+1\n"
    )


def test_json_is_an_item_a_line_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_items(ITEMS, COLUMNS, form=Form.JSON)

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ITEMS


def test_csv_has_every_field_and_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    more = [{"name": "Cid", "amount_minor": 1, "tables": ["T1", "T2"], "is_live": True, "amount": "-12.5"}]

    printing.print_items([*ITEMS, *more], COLUMNS, form=Form.CSV)

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert list(rows[0]) == [
        "name",
        "amount_minor",
        "currency",
        "pool.exact",
        "note",
        "pool",
        "tables",
        "is_live",
        "amount",
    ]
    assert (rows[0]["pool.exact"], rows[0]["note"]) == ("1.5", "a\nb\x1b[2K")
    assert (rows[1]["amount_minor"], rows[1]["note"]) == ("-5", "'=1+1")
    assert (rows[2]["tables"], rows[2]["is_live"], rows[2]["amount"]) == ('["T1", "T2"]', "true", "-12.5")


def test_nothing_is_said_of_an_empty_list_where_programs_read(capsys: pytest.CaptureFixture[str]) -> None:
    for form in (None, Form.JSON):
        printing.print_items([], COLUMNS, form=form)

    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "There are none.\n")


def test_an_empty_list_is_csv_with_a_header(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_items([], COLUMNS, form=Form.CSV)

    output = capsys.readouterr()
    assert (output.out, output.err) == ("name,amount_minor,currency,pool.exact,note\r\n", "")


LONG: list[dict[str, Any]] = [
    {"name": "Ann", "amount_minor": 123_456_789, "currency": "JPY", "pool": {"exact": "1.5"}, "note": "word " * 30},
    {"name": "Bob", "amount_minor": -5, "currency": "EUR", "pool": None, "note": "x" * 100},
]


def test_a_table_that_is_wider_than_the_terminal_is_records(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    printing.print_items(LONG, COLUMNS, form=None)

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert (lines[:2], lines.count("")) == (["name    Ann", "amount  123,456,789 JPY"], 1)
    assert "".join(lines).count("word") == 30
    assert "".join(lines).count("x") == 100


def test_a_table_that_the_terminal_has_room_for_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    printing.print_items(ITEMS, COLUMNS, form=None)

    assert capsys.readouterr().out.startswith("name                       amount  pool  note\nAnn ")


def test_lines_that_are_piped_stay_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    printing.print_items(LONG, COLUMNS, form=None)

    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["name", "Ann", "Bob"]


def test_what_is_shown_by_names_goes_on_under_its_beginning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")

    printing.print_one({}, lambda: printing.fields([("by", "Ann"), ("reason", "one two " * 8)]), is_json=False)

    assert capsys.readouterr().out.splitlines() == [
        "by      Ann",
        "reason  one two one two one two one two",
        "        one two one two one two one two",
    ]


def test_a_value_of_blanks_alone_is_shown_as_an_empty_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")

    printing.print_one({}, lambda: printing.fields([("reason", " " * 80), ("by", "Ann")]), is_json=False)

    assert capsys.readouterr().out.splitlines() == ["reason", "by      Ann"]
