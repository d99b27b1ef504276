from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.statistics import deviations, percent, root, rounded, rounded_down

AMOUNTS = st.decimals(min_value=-(10**12), max_value=10**12, places=4)
VARIANCES = st.fractions(min_value=0, max_value=10**20)


@pytest.mark.parametrize(
    ("number", "text"), [("1/3", "0.3333333333"), ("2/3", "0.6666666667"), ("-1/3", "-0.3333333333"), ("7", "7")]
)
def test_a_ratio_is_rounded_once_to_ten_decimals(number: str, text: str) -> None:
    assert rounded(Fraction(number)) == Decimal(text)


def test_a_long_number_keeps_all_its_digits() -> None:
    assert rounded(Fraction(10**40 + 1)) == Decimal(10**40 + 1)
    assert rounded_down(Fraction(10**40 * 3 + 2, 3), 18) == Decimal(f"{10**40}.{'6' * 18}")


def test_a_part_of_nothing_has_no_per_cent() -> None:
    assert percent(Decimal(1), Decimal(8)) == Decimal("12.5")
    assert percent(Decimal(1), Decimal(0)) is None


@given(VARIANCES)
def test_a_root_is_the_nearest_of_two_decimals(variance: Fraction) -> None:
    approximate, half = Fraction(root(variance)), Fraction(1, 200)

    assert max(approximate - half, Fraction(0)) ** 2 <= variance < (approximate + half) ** 2


@given(AMOUNTS, VARIANCES.filter(bool))
def test_deviations_of_a_difference_and_of_its_opposite_are_opposite(difference: Decimal, variance: Fraction) -> None:
    deviation, opposite = deviations(difference, variance), deviations(difference.copy_negate(), variance)

    assert deviation is not None
    assert opposite is not None
    assert Fraction(deviation) == -Fraction(opposite)
    assert Fraction(deviation) * Fraction(difference) >= 0
    assert abs(deviation) == root(Fraction(difference) ** 2 / variance)


def test_without_chance_there_are_no_deviations() -> None:
    assert deviations(Decimal(1), Fraction(0)) is None
