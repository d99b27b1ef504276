"""Withholding rules: what is due is the exact percentage, rounded down, and a rule that cannot be is none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.domain.withholding import (
    LARGEST_MULTIPLE,
    BadWithholding,
    VersionedRule,
    Withholding,
    WithholdingRule,
    WithholdingTooLarge,
    facts_of,
    in_force,
    require_due,
    withholding_of,
)

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
RULE: Final = WithholdingRule("USD", START, 120_000, 500_000, Decimal(24), 300)

minors = st.integers(1, LARGEST_MINOR)
percents = st.integers(1, 999_999).map(lambda parts: Decimal(parts).scaleb(-4))


@given(bounds=st.tuples(minors, minors), percent=percents, amount=minors, stake=minors, least=st.integers(1, 10**6))
def test_what_is_due_is_the_exact_percentage_of_the_award_rounded_down(
    bounds: tuple[int, int], percent: Decimal, amount: int, stake: int, least: int
) -> None:
    report_at, withhold_at = sorted(bounds)
    rule = WithholdingRule("USD", START, report_at, withhold_at, percent, least)

    withheld = withholding_of(rule, amount_minor=amount, stake_minor=stake)

    counts = Fraction(amount, stake) >= least
    exact = Fraction(percent) / 100 * amount if counts and amount >= withhold_at else Fraction(0)
    assert withheld == Withholding(counts and amount >= report_at, floor(exact))
    assert 0 <= exact - withheld.due_minor < 1
    assert withheld.due_minor < amount
    assert withheld.reportable or not withheld.due_minor


@pytest.mark.parametrize(
    ("amount_minor", "stake_minor", "expected"),
    [
        (119_999, 100, Withholding(reportable=False, due_minor=0)),
        (120_000, 100, Withholding(reportable=True, due_minor=0)),
        (120_000, 401, Withholding(reportable=False, due_minor=0)),
        (499_999, 100, Withholding(reportable=True, due_minor=0)),
        (500_000, 100, Withholding(reportable=True, due_minor=120_000)),
        (500_003, 100, Withholding(reportable=True, due_minor=120_000)),
        (500_004, 100, Withholding(reportable=True, due_minor=120_000)),
        (500_005, 100, Withholding(reportable=True, due_minor=120_001)),
        (500_000, 1_667, Withholding(reportable=False, due_minor=0)),
    ],
)
def test_awards_around_the_limits_of_a_rule(amount_minor: int, stake_minor: int, expected: Withholding) -> None:
    assert withholding_of(RULE, amount_minor=amount_minor, stake_minor=stake_minor) == expected


def test_without_a_percentage_an_award_is_reported_and_nothing_is_due() -> None:
    rule = WithholdingRule("USD", START, 1)
    assert withholding_of(rule, amount_minor=LARGEST_MINOR, stake_minor=1) == Withholding(reportable=True, due_minor=0)


def test_the_latest_version_that_has_come_into_force_is_the_rule() -> None:
    days = {1: 0, 2: 30, 3: 10, 4: 60}
    versions = [
        VersionedRule(number, replace(RULE, in_force_from=START + timedelta(days=day))) for number, day in days.items()
    ]
    assert in_force(versions, opened_at=START - timedelta(microseconds=1)) is None
    for day, number in ((0, 1), (9, 1), (10, 3), (30, 3), (59, 3), (60, 4)):
        expected = next(version.rule for version in versions if version.version == number)
        assert in_force(versions[::-1], opened_at=START + timedelta(days=day)) == expected
    assert in_force([], opened_at=START) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"report_at_minor": 0},
        {"report_at_minor": -1},
        {"report_at_minor": 500_001},
        {"report_at_minor": LARGEST_MINOR + 1, "withhold_at_minor": None, "percent": None},
        {"withhold_at_minor": LARGEST_MINOR + 1},
        {"withhold_at_minor": None},
        {"percent": None},
        {"percent": Decimal(0)},
        {"percent": Decimal(-1)},
        {"percent": Decimal(100)},
        {"percent": Decimal("0.00001")},
        {"percent": Decimal("NaN")},
        {"percent": Decimal("sNaN")},
        {"percent": Decimal("Infinity")},
        {"least_multiple": 0},
        {"least_multiple": LARGEST_MULTIPLE + 1},
    ],
    ids=str,
)
def test_a_rule_that_cannot_be_is_none(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadWithholding):
        replace(RULE, **wrong)


def test_payments_withhold_what_is_due_and_no_more() -> None:
    require_due(0, withheld_minor=0, due_minor=0, currency="USD")
    require_due(5, withheld_minor=5, due_minor=10, currency="USD")
    with pytest.raises(WithholdingTooLarge) as refused:
        require_due(6, withheld_minor=5, due_minor=10, currency="USD")
    assert refused.value.facts == {"due_minor": 10, "withheld_minor": 5, "currency": "USD"}


def test_a_version_is_written_without_trailing_zeros() -> None:
    shown = facts_of("c1", 2, replace(RULE, percent=Decimal("24.5000")))
    assert shown == {
        "casino_id": "c1",
        "currency": "USD",
        "version": 2,
        "from": "2026-01-01T00:00:00.000000Z",
        "least_multiple": 300,
        "report_at_minor": 120_000,
        "withhold_at_minor": 500_000,
        "percent": "24.5",
    }
