"""How numbers and times are written in each language."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from gettext import NullTranslations

import pytest

from jackpot_service.domain.languages import Language, Words

ENGLISH, GERMAN = (Words(language, NullTranslations()) for language in Language)


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        ("649740", "649,740", "649.740"),
        ("1234567.8900", "1,234,567.89", "1.234.567,89"),
        ("0.0061", "0.0061", "0,0061"),
        ("1E+3", "1,000", "1.000"),
        ("0", "0", "0"),
        ("-1234.5", "-1,234.5", "-1.234,5"),
    ],
)
def test_numbers_have_the_marks_of_their_language(number: str, english: str, german: str) -> None:
    assert (ENGLISH.number(Decimal(number)), GERMAN.number(Decimal(number))) == (english, german)


def test_a_part_is_written_in_per_cent() -> None:
    assert (ENGLISH.per_cent(Decimal("0.8184")), GERMAN.per_cent(Decimal("0.8184"))) == ("81.84 %", "81,84 %")


def test_an_amount_has_all_decimals_of_its_currency() -> None:
    assert [ENGLISH.scaled(1_234_500, exponent) for exponent in (0, 2, 3)] == ["1,234,500", "12,345.00", "1,234.500"]
    assert GERMAN.scaled(1_234_500, 2) == "12.345,00"


def test_a_time_is_in_utc_and_alike_in_every_language() -> None:
    moment = datetime(2026, 11, 20, 10, 30, 0, 999, tzinfo=timezone(timedelta(hours=1)))

    assert ENGLISH.moment(moment) == GERMAN.moment(moment.astimezone(UTC)) == "2026-11-20 09:30:00 UTC"
