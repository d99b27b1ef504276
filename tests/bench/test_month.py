"""The month that reports are measured over."""

from datetime import UTC, datetime, timedelta

import pytest

from bench.month import Calendar


@pytest.mark.parametrize("now", [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, tzinfo=UTC)])
def test_all_that_is_played_is_over_as_nothing_is_booked_ahead_of_the_databases_clock(now: datetime) -> None:
    *_, last = Calendar.before(now).steps()

    assert last + timedelta(hours=3) <= now
