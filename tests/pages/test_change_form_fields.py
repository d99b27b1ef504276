"""Fields of forms: how typed text becomes a member of a payload, and what it may not be."""

from collections.abc import Sequence

import pytest
from werkzeug.datastructures import MultiDict

from jackpot_service.pages.change_forms.fields import Control, Field, Typed, defaults, read_fields


def typed(**values: str | Sequence[str]) -> Typed:
    text: Typed = MultiDict()
    for name, value in values.items():
        text.setlist(name, [value] if isinstance(value, str) else [*value])
    return text


def field(control: Control, **more: object) -> Field:
    return Field(name="x", label="X", control=control, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("currency", "text", "minor"),
    [
        ("EUR", "12.50", 1250),
        ("EUR", "12.5", 1250),
        ("EUR", "12.500", 1250),
        ("EUR", "-0.50", -50),
        ("EUR", "\N{MINUS SIGN}0.50", -50),
        ("JPY", "300", 300),
        ("JPY", "300.0", 300),
        ("KWD", "1.234", 1234),
        ("EUR", "10000000000000", 10**15),
        ("EUR", "1,234.50", 123450),
        ("EUR", "1 234 567", 123456700),
        ("EUR", "1\N{NO-BREAK SPACE}234.5", 123450),
        ("EUR", "1,250", 125000),
        ("KWD", "1,250.500", 1250500),
    ],
)
def test_units_become_minor_units_exactly(currency: str, text: str, minor: int) -> None:
    reading = read_fields([field(Control.MINOR, unit=currency, may_be_negative=True)], typed(x=text))
    assert (reading.payload, reading.errors) == ({"x": minor}, {})


@pytest.mark.parametrize(
    ("currency", "text", "wrong"),
    [
        ("EUR", "1.005", "must be an amount in EUR with at most 2 decimals, such as 12.50"),
        ("JPY", "0.5", "must be a whole amount in JPY, such as 1250"),
        ("KWD", "1.2345", "must be an amount in KWD with at most 3 decimals, such as 1.250"),
        ("EUR", "1e3", "must be an amount in EUR"),
        ("EUR", "0", "must not be 0"),
        ("EUR", "-1", "must not be below 0"),
        ("EUR", "10000000000000.01", "must be at most EUR\N{NO-BREAK SPACE}10,000,000,000,000.00"),
    ],
)
def test_what_is_no_amount_of_a_currency_is_refused_in_its_units(currency: str, text: str, wrong: str) -> None:
    reading = read_fields([field(Control.MINOR, unit=currency)], typed(x=text))
    assert reading.payload == {}
    assert reading.errors["/payload/x"].startswith(wrong)


@pytest.mark.parametrize(
    ("currency", "text"),
    [
        *(("EUR", text) for text in ("12,50", "1,5", "1 234,50", "1.234,50", "1,2345", "1,234 567", ",500", "1,,234")),
        ("JPY", "1,5"),
        ("KWD", "1,250"),
    ],
)
def test_a_comma_or_a_space_is_a_mark_of_thousands_or_nothing(currency: str, text: str) -> None:
    """A decimal comma that was left out would make a hundred times the amount."""
    reading = read_fields([field(Control.MINOR, unit=currency)], typed(x=text))
    assert reading.payload == {}
    assert f"amount in {currency}" in reading.errors["/payload/x"]


def test_the_currency_of_an_amount_is_that_of_another_field() -> None:
    amount = field(Control.MINOR, unit_field="currency")
    assert read_fields([amount], typed(x="3", currency="JPY")).payload == {"x": 3}
    assert read_fields([amount], typed(x="3", currency="XXQ")).errors == {"/payload/x": "needs a currency"}


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-20T09:30", "2026-11-20T09:30:00Z"),
        ("2026-11-20T09:30:15", "2026-11-20T09:30:15Z"),
        ("2026-11-20T09:30:15Z", "2026-11-20T09:30:15Z"),
        ("2026-11-20T09:30:15.123", "2026-11-20T09:30:15.123"),
        ("soon", "soonZ"),
    ],
)
def test_times_are_completed_as_those_of_utc(text: str, instant: str) -> None:
    assert read_fields([field(Control.INSTANT)], typed(x=text)).payload == {"x": instant}


def test_an_empty_field_is_no_member_and_a_name_is_a_place_in_the_payload() -> None:
    fields = (
        Field(name="a/b", label="B"),
        Field(name="a/c", label="C", control=Control.MANY),
        Field(name="d", label="D", control=Control.MANY, is_required=False),
        Field(name="e", label="E", control=Control.TRUTH),
        Field(name="f", label="F"),
    )
    assert read_fields(fields, typed(**{"a/b": " x ", "f": " "})).payload == {"a": {"b": "x", "c": []}, "e": False}


def test_whole_numbers_are_numbers_and_all_else_is_left_to_the_schema() -> None:
    whole = field(Control.WHOLE)
    assert [read_fields([whole], typed(x=text)).payload["x"] for text in ("7", "7.0", "-7", "\N{SUPERSCRIPT TWO}")] == [
        7,
        "7.0",
        "-7",
        "\N{SUPERSCRIPT TWO}",
    ]


def test_a_form_begins_with_its_address_and_then_with_its_defaults() -> None:
    fields = (
        Field(name="a", label="A", default=("1",)),
        Field(name="b", label="B", default=("1",)),
        Field(name="from", label="From", control=Control.INSTANT),
    )
    shown = defaults(fields, typed(**{"b": "2", "c": "3", "from": "2026-10-01T06:00:00.5Z"}))
    assert shown.to_dict() == {"a": "1", "b": "2", "from": "2026-10-01T06:00:00"}


def test_minor_units_of_an_address_are_shown_as_units() -> None:
    fields = (
        Field(name="currency", label="Currency", control=Control.CHOICE, default=("EUR",)),
        Field(name="amount_minor", label="Amount", control=Control.MINOR, unit_field="currency", default=("7.00",)),
    )
    for stated, amount in {"1250": "12.50", "-5": "-0.05", "12.50": "7.00", "x": "7.00", "9" * 19: "7.00"}.items():
        assert defaults(fields, typed(amount_minor=stated))["amount_minor"] == amount
    assert defaults(fields, typed(amount_minor="1250", currency="JPY"))["amount_minor"] == "1250"
    assert defaults(fields, typed(amount_minor="1250", currency="XXQ"))["amount_minor"] == "7.00"


def test_a_choice_is_a_value_of_the_books_to_its_last_space() -> None:
    assert read_fields([field(Control.CHOICE)], typed(x="slip 1 ")).payload == {"x": "slip 1 "}
    assert read_fields([field(Control.CHOICE)], typed(x="")).payload == {}


def test_an_error_points_to_its_field_or_into_it() -> None:
    hand = Field(name="result/hands/1/cards", label="Hand")
    assert hand.is_at("/payload/result/hands/1/cards/3")
    assert not hand.is_at("/payload/result/hands/1/card")
    assert not hand.is_at("/payload/result/hands/1")
