"""The times that table servers state: two seconds ahead of the ledger's clock, and no more."""

from datetime import UTC, datetime, timedelta

import pytest

from jackpot_service.domain.occurrence import OccurredAhead, require_not_ahead

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_a_clock_may_be_two_seconds_ahead_and_no_more() -> None:
    require_not_ahead(NOW + timedelta(seconds=2), now=NOW)
    with pytest.raises(OccurredAhead):
        require_not_ahead(NOW + timedelta(seconds=2, microseconds=1), now=NOW)


def test_no_time_is_as_good_as_one_long_ago() -> None:
    require_not_ahead(None, now=NOW)
    require_not_ahead(NOW - timedelta(days=400), now=NOW)
