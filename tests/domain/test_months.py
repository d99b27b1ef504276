"""Months, and the round keys that are theirs."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.rounds import RANDOM_BITS, KeyRange, Month, first_key_at, keys_of
from jackpot_service.records.rounds import new_key

INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  theirs
MILLISECOND = timedelta(milliseconds=1)


def test_an_instant_lies_in_the_month_that_it_is_in_utc() -> None:
    riga = timezone(timedelta(hours=2))
    assert Month.of(datetime(2026, 12, 1, 1, 59, tzinfo=riga)) == Month(2026, 11)
    assert Month.of(datetime(2026, 12, 1, 2, 0, tzinfo=riga)) == Month(2026, 12)


@pytest.mark.parametrize(("months", "month"), [(0, "2026-11"), (1, "2026-12"), (2, "2027-01"), (14, "2028-01")])
def test_months_go_on_over_the_end_of_a_year(months: int, month: str) -> None:
    assert str(Month(2026, 11).later(months)) == month


@given(INSTANTS)
def test_a_new_rounds_key_is_among_those_of_its_month_and_of_no_other(instant: datetime) -> None:
    key, month = new_key(instant), Month.of(instant)
    for months in (-1, 0, 1):
        keys = keys_of(month.later(months))
        assert (keys.first <= key < keys.end) == (months == 0)


@given(INSTANTS)
def test_months_leave_no_key_between_them(instant: datetime) -> None:
    month = Month.of(instant)
    assert keys_of(month).end == keys_of(month.later(1)).first
    assert keys_of(month).end == first_key_at(month.later(1).begins_at - MILLISECOND) + 2**RANDOM_BITS


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (KeyRange(0, 5), KeyRange(5, 9), False),
        (KeyRange(0, 6), KeyRange(5, 9), True),
        (KeyRange(0, 9), KeyRange(3, 4), True),
        (KeyRange(3, 4), KeyRange(0, 9), True),
    ],
)
def test_ranges_overlap_where_they_have_a_key_in_common(one: KeyRange, other: KeyRange, *, together: bool) -> None:
    assert one.overlaps(other) is together
    assert other.overlaps(one) is together
