"""A casino's gaming day, told in Python as the books tell it in SQL."""

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jackpot_service import embedded
from jackpot_service.domain.casinos import gaming_day
from tests.properties.profile import repeatable

RIGA = zoneinfo.ZoneInfo("Europe/Riga")
SIX = time(6)

ZONES = (
    "UTC",
    "Europe/Riga",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
)
"""Half hours, quarters, a shift of half an hour, one that runs backwards, a day that was skipped, both ends."""


def test_the_night_belongs_to_the_evening_before() -> None:
    assert gaming_day(datetime(2026, 1, 15, 3, 59, 59, 999999, UTC), RIGA, SIX) == date(2026, 1, 14)
    assert gaming_day(datetime(2026, 1, 15, 4, tzinfo=UTC), RIGA, SIX) == date(2026, 1, 15)


def test_a_day_starts_by_the_wall_also_when_the_clocks_change() -> None:
    """On 29 March 2026 Riga's clocks go from 3 to 4, on 25 October back from 4 to 3."""
    for starts, day in (
        (datetime(2026, 3, 28, 4, tzinfo=UTC), date(2026, 3, 28)),
        (datetime(2026, 3, 29, 3, tzinfo=UTC), date(2026, 3, 29)),
        (datetime(2026, 10, 24, 3, tzinfo=UTC), date(2026, 10, 24)),
        (datetime(2026, 10, 25, 4, tzinfo=UTC), date(2026, 10, 25)),
    ):
        assert gaming_day(starts, RIGA, SIX) == day
        assert gaming_day(starts - timedelta(microseconds=1), RIGA, SIX) == day - timedelta(days=1)


def test_days_that_start_at_midnight_in_utc_are_those_of_the_calendar() -> None:
    assert gaming_day(datetime(2026, 1, 15, tzinfo=UTC), UTC, time(0)) == date(2026, 1, 15)
    assert gaming_day(datetime(2026, 1, 14, 23, 59, tzinfo=UTC), UTC, time(0)) == date(2026, 1, 14)


@pytest.fixture(scope="module")
def asked(cluster: embedded.Cluster) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
        yield connection


@repeatable
@example(instant=datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), zone="Europe/Riga", day_starts=time(3, 30))
@example(instant=datetime(2026, 3, 29, 1, 0, tzinfo=UTC), zone="Europe/Riga", day_starts=time(3, 30))
@example(instant=datetime(2026, 10, 25, 0, 30, tzinfo=UTC), zone="Europe/Riga", day_starts=time(3, 30))
@example(instant=datetime(2026, 10, 25, 1, 30, tzinfo=UTC), zone="Europe/Riga", day_starts=time(3, 30))
@example(instant=datetime(2011, 12, 30, 10, 0, tzinfo=UTC), zone="Pacific/Apia", day_starts=time(0))
@given(
    instant=st.integers(0, 3_471_292_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    zone=st.sampled_from(ZONES),
    day_starts=st.builds(time, st.integers(0, 23), st.integers(0, 59)),
)
def test_the_database_tells_the_same_gaming_day(
    asked: psycopg.Connection[Any], instant: datetime, zone: str, day_starts: time
) -> None:
    question = "SELECT ((%s::timestamptz AT TIME ZONE %s) - %s::time)::date"
    (found,) = asked.execute(question, [instant, zone, day_starts]).fetchone() or (None,)
    told = gaming_day(instant, zoneinfo.ZoneInfo(zone), day_starts)
    assert told == found
    assert timedelta(days=-2) <= told - instant.date() <= timedelta(days=1)
