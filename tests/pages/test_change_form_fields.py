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
        ("EUR", "1234567890123456789012345678901234567890.12", 123456789012345678901234567890123456789012),
    ],
)
def test_units_become_minor_units_exactly(currency: str, text: str, minor: int) -> None:
    reading = read_fields([field(Control.MINOR, unit=currency)], typed(x=text))
    assert (reading.payload, reading.errors) == ({"x": minor}, {})


@pytest.mark.parametrize(
    ("currency", "text"), [("EUR", "1.005"), ("JPY", "0.5"), ("KWD", "1.2345"), ("EUR", "1e3"), ("EUR", "12,50")]
)
def test_a_part_of_a_minor_unit_is_refused(currency: str, text: str) -> None:
    reading = read_fields([field(Control.MINOR, unit=currency)], typed(x=text))
    assert reading.payload == {}
    assert f"must be an amount of {currency}" in reading.errors["/payload/x"]


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


def test_an_error_points_to_its_field_or_into_it() -> None:
    hand = Field(name="result/hands/1/cards", label="Hand")
    assert hand.is_at("/payload/result/hands/1/cards/3")
    assert not hand.is_at("/payload/result/hands/1/card")
    assert not hand.is_at("/payload/result/hands/1")
