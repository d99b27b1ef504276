"""How pages write figures: never a digit more or less than the ledger has, and never a larger amount."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from jackpot_service.domain.money import Rate
from jackpot_service.pages import figures
from jackpot_service.reports.round_calculation import Quotient

EUR, JPY, KWD = Rate("EUR", Decimal(1), 2), Rate("JPY", Decimal("0.0061"), 0), Rate("KWD", Decimal("3.1"), 3)


def plain(text: str) -> str:
    return text.replace(figures.SPACE, " ")


@pytest.mark.parametrize(
    ("amount_minor", "rate", "written"),
    [
        (178575, EUR, "EUR 1,785.75"),
        (0, EUR, "EUR 0.00"),
        (-5, EUR, "EUR \N{MINUS SIGN}0.05"),
        (4666239, JPY, "JPY 4,666,239"),
        (1234567, KWD, "KWD 1,234.567"),
        (10**15, EUR, "EUR 10,000,000,000,000.00"),
    ],
)
def test_money_has_all_decimals_of_its_currency(amount_minor: int, rate: Rate, written: str) -> None:
    assert plain(figures.money(amount_minor, rate)) == written


@pytest.mark.parametrize(
    ("amount_minor", "currency", "written"),
    [(178575, "EUR", "1785.75"), (0, "EUR", "0.00"), (-5, "EUR", "-0.05"), (4666239, "JPY", "4666239")],
)
def test_a_field_of_an_amount_has_no_marks_of_thousands(amount_minor: int, currency: str, written: str) -> None:
    assert figures.as_typed(amount_minor, currency) == written


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        ("169320.29425255", "EUR", "EUR 169,320.29425255"),
        ("5434.040742", "EUR", "EUR 5,434.040742"),
        ("100", "EUR", "EUR 100.00"),
        ("0.1", "EUR", "EUR 0.10"),
        ("100", "JPY", "JPY 100"),
        ("-9.6816", "EUR", "EUR \N{MINUS SIGN}9.6816"),
        ("0.000000000000000001", "EUR", "EUR 0.000000000000000001"),
    ],
)
def test_an_exact_amount_has_every_digit_and_at_least_the_currencys(amount: str, currency: str, written: str) -> None:
    assert plain(figures.exact(amount, currency)) == written


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("0.019", "EUR 0.01"),
        ("-0.019", "EUR \N{MINUS SIGN}0.02"),
        ("-0.001", "EUR \N{MINUS SIGN}0.01"),
        ("7", "EUR 7.00"),
    ],
)
def test_a_cut_amount_is_never_larger_and_keeps_the_exact_one(amount: str, written: str) -> None:
    shown = plain(figures.about(amount, "EUR"))
    assert f">{written}</data>" in shown
    assert f'value="{amount}"' in shown
    assert f'title="{plain(figures.exact(amount, "EUR"))}"' in shown


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (Fraction(5434), "5,434"),
        (Fraction(1, 3), "0.333333333333333333…"),
        (Fraction(1, 10**18), "0.000000000000000001"),
        (Fraction(1, 10**19), "0…"),
    ],
)
def test_a_quotient_says_whether_there_are_more_digits(number: Fraction, written: str) -> None:
    assert figures.quotient(Quotient.of(number)) == written


@pytest.mark.parametrize(
    ("part", "written"), [("0.3184", "31.84 %"), ("1", "100 %"), ("-0.1", "\N{MINUS SIGN}10 %"), ("0", "0 %")]
)
def test_a_part_is_per_cent_of_a_whole(part: str, written: str) -> None:
    assert plain(figures.per_cent(Decimal(part))) == written


@pytest.mark.parametrize(
    ("passed", "written"),
    [
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=59.9), "59 s"),
        (timedelta(minutes=15), "15 min"),
        (timedelta(hours=3, minutes=5), "3 h 5 min"),
        (timedelta(days=2, hours=4, minutes=59), "2 d 4 h"),
    ],
)
def test_an_age_is_rounded_down_to_the_unit_that_matters(passed: timedelta, written: str) -> None:
    assert plain(figures.age(passed)) == written


def test_times_are_of_utc() -> None:
    assert figures.moment(datetime(2026, 11, 3, 9, 5, 7, tzinfo=UTC)) == "3 Nov 2026, 09:05:07 UTC"


def test_every_number_of_a_page_uses_the_minus_of_typographers() -> None:
    assert figures.number("-1234.50") == "\N{MINUS SIGN}1,234.5"


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        ("1.17", "1.2", "+2.56\N{NO-BREAK SPACE}%"),
        ("-4", "-5", "\N{MINUS SIGN}25.00\N{NO-BREAK SPACE}%"),
        ("3", "2.99999", "\N{MINUS SIGN}0.00\N{NO-BREAK SPACE}%"),
        ("0", "5", ""),
        ("5", "5.0", ""),
    ],
)
def test_a_move_is_per_cent_of_what_was_there(before: str, after: str, written: str) -> None:
    assert figures.move(Decimal(before), Decimal(after)) == written
