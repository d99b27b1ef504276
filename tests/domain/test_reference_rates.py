"""Quotes for one euro, turned into rates of any base currency: exact, and rounded once."""

from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import NotQuoted, ReferenceRates

DAY = date(2026, 11, 19)
QUOTED = ReferenceRates(
    "EUR",
    DAY,
    {
        "USD": Decimal("1.0500"),
        "JPY": Decimal("163.04"),
        "GBP": Decimal("0.83450"),
        "SEK": Decimal("11.5715"),
        "IDR": Decimal("16703.21"),
        "KWD": Decimal("0.32"),
    },
)

quotes = st.decimals(min_value=Decimal("0.0001"), max_value=Decimal("99999.9999"), places=4)


@pytest.mark.parametrize(
    ("currency", "rate"),
    [
        ("USD", "0.9523809524"),
        ("JPY", "0.0061334642"),
        ("GBP", "1.1983223487"),
        ("SEK", "0.0864192196"),
        ("IDR", "0.0000598687"),
        ("KWD", "3.125"),
    ],
)
def test_of_the_euro_a_rate_is_the_inverse_of_its_quote(currency: str, rate: str) -> None:
    assert plain(QUOTED.base_per_unit(currency, base="EUR")) == rate


@pytest.mark.parametrize(("currency", "rate"), [("EUR", "1.05"), ("GBP", "1.2582384661"), ("USD", "1")])
def test_of_another_base_it_is_the_quotient_of_two_and_the_euro_is_a_currency_like_others(
    currency: str, rate: str
) -> None:
    assert plain(QUOTED.base_per_unit(currency, base="USD")) == rate


@pytest.mark.parametrize(("halves", "rate"), [(1, "0"), (3, "0.0000000002"), (5, "0.0000000002"), (7, "0.0000000004")])
def test_a_half_is_rounded_to_the_even_digit(halves: int, rate: str) -> None:
    quoted = ReferenceRates("EUR", DAY, {"XAA": Decimal(2 * 10**10), "XBB": Decimal(halves)})

    assert plain(quoted.base_per_unit("XAA", base="XBB")) == rate


def test_what_is_not_quoted_has_no_rate() -> None:
    with pytest.raises(NotQuoted, match="2026-11-19 quote no CHF"):
        QUOTED.base_per_unit("CHF", base="EUR")
    with pytest.raises(NotQuoted):
        QUOTED.base_per_unit("EUR", base="CHF")


@given(of_base=quotes, of_currency=quotes)
def test_a_rate_is_the_quotient_rounded_once(of_base: Decimal, of_currency: Decimal) -> None:
    quoted = ReferenceRates("EUR", DAY, {"XAA": of_base, "XBB": of_currency})

    rate = quoted.base_per_unit("XBB", base="XAA")

    wide = Context(prec=400, rounding=ROUND_HALF_EVEN, traps=[])
    assert rate == wide.quantize(wide.divide(of_base, of_currency), Decimal("1e-10"))
