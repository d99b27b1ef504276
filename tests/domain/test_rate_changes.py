"""What a change makes of a sheet, and which rates are hard to believe."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.config.settings import Config
from jackpot_service.domain.rates import DEFAULT_BAND, rates_after, to_confirm

BEFORE = {"GBP": Decimal("1.17"), "SEK": Decimal("0.0873"), "JPY": Decimal("0.0061")}

rates = st.decimals(min_value=Decimal("1e-9"), max_value=Decimal(9999999999), places=10)
bands = st.decimals(min_value=0, max_value=1, places=4)


def confirmed(band: str = "0.10", **stated: str) -> dict[str, str]:
    return to_confirm(BEFORE, {code: Decimal(rate) for code, rate in stated.items()}, band=Decimal(band))


def test_single_rates_are_put_over_those_before() -> None:
    after = rates_after(
        BEFORE, rates={"GBP": Decimal("1.18"), "CHF": Decimal("1.05")}, removed_currencies=(), replace_all=False
    )

    assert after == {**BEFORE, "GBP": Decimal("1.18"), "CHF": Decimal("1.05")}


def test_what_leaves_is_not_there_after() -> None:
    assert rates_after(BEFORE, rates={}, removed_currencies=("SEK",), replace_all=False).keys() == {"GBP", "JPY"}


def test_a_whole_sheet_keeps_nothing() -> None:
    assert rates_after(BEFORE, rates={"GBP": Decimal(2)}, removed_currencies=(), replace_all=True) == {
        "GBP": Decimal(2)
    }


@pytest.mark.parametrize("rate", ["1.17", "1.287", "1.053", "1.2869999999"])
def test_a_rate_inside_the_band_its_ends_too_is_believed(rate: str) -> None:
    assert confirmed(GBP=rate) == {}


@pytest.mark.parametrize("rate", ["1.2870000001", "1.0529999999", "117", "0.0117", "9999999999", "0.0000000001"])
def test_a_rate_outside_the_band_must_be_repeated(rate: str) -> None:
    assert confirmed(GBP=rate) == {"GBP": rate}


def test_a_quote_the_wrong_way_round_is_named_so() -> None:
    assert confirmed(GBP="0.8547", SEK="11.45", JPY="163.9") == {
        "GBP:inverted": "0.8547",
        "SEK:inverted": "11.45",
        "JPY:inverted": "163.9",
    }


def test_a_currency_that_was_not_there_must_be_confirmed() -> None:
    assert confirmed(CHF="1.05") == {"CHF": "1.05"}


def test_a_band_of_nothing_lets_nothing_pass_but_the_same_rate() -> None:
    assert confirmed("0", GBP="1.17", SEK="0.0874") == {"SEK": "0.0874"}


def test_figures_are_repeated_without_trailing_zeros() -> None:
    assert confirmed(GBP="2.50") == {"GBP": "2.5"}


def test_the_band_of_an_installation_that_sets_none_is_that_of_the_domain() -> None:
    assert Config().rate_band == DEFAULT_BAND


@given(before=rates, rate=rates, band=bands)
def test_a_rate_is_named_inverted_exactly_if_its_inverse_would_be_believed(
    before: Decimal, rate: Decimal, band: Decimal
) -> None:
    to_repeat = to_confirm({"GBP": before}, {"GBP": rate}, band=band)

    exact_before, exact_rate, exact_band = map(Fraction, (before, rate, band))
    is_near = abs(exact_rate - exact_before) <= exact_before * exact_band
    inverse_is_near = abs(1 / exact_rate - exact_before) <= exact_before * exact_band
    assert list(to_repeat) == ([] if is_near else ["GBP:inverted"] if inverse_is_near else ["GBP"])
