"""A casino's gaming day, told in Python as the books tell it in SQL."""

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jackpot_service.database import embedded
from jackpot_service.domain.casinos import gaming_day, gaming_day_start
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
def database(cluster: embedded.Cluster) -> Iterator[psycopg.Connection[Any]]:
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
    database: psycopg.Connection[Any], instant: datetime, zone: str, day_starts: time
) -> None:
    question = "SELECT ((%s::timestamptz AT TIME ZONE %s) - %s::time)::date"
    (by_database,) = database.execute(question, [instant, zone, day_starts]).fetchone() or (None,)
    expected = gaming_day(instant, zoneinfo.ZoneInfo(zone), day_starts)
    assert expected == by_database
    assert timedelta(days=-2) <= expected - instant.date() <= timedelta(days=1)


# When a gaming day starts.

NEW_YORK = zoneinfo.ZoneInfo("America/New_York")
LORD_HOWE = zoneinfo.ZoneInfo("Australia/Lord_Howe")
APIA = zoneinfo.ZoneInfo("Pacific/Apia")


@pytest.mark.parametrize(
    ("zone", "day_starts", "day", "starts"),
    [
        (UTC, time(0), date(2026, 11, 1), datetime(2026, 11, 1, tzinfo=UTC)),
        (UTC, time(6, 30), date(2026, 11, 1), datetime(2026, 11, 1, 6, 30, tzinfo=UTC)),
        (RIGA, SIX, date(2026, 11, 1), datetime(2026, 11, 1, 4, tzinfo=UTC)),
        (RIGA, SIX, date(2026, 7, 1), datetime(2026, 7, 1, 3, tzinfo=UTC)),
        (NEW_YORK, SIX, date(2026, 11, 1), datetime(2026, 11, 1, 11, tzinfo=UTC)),
        (NEW_YORK, SIX, date(2026, 10, 31), datetime(2026, 10, 31, 10, tzinfo=UTC)),
        # The night in which the clocks are put forward from 3 to 4: there is no half past three on that wall.
        (RIGA, time(2, 30), date(2026, 3, 29), datetime(2026, 3, 29, 0, 30, tzinfo=UTC)),
        (RIGA, time(3), date(2026, 3, 29), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        (RIGA, time(3, 30), date(2026, 3, 29), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        (RIGA, time(4), date(2026, 3, 29), datetime(2026, 3, 29, 1, tzinfo=UTC)),
        (RIGA, time(4, 1), date(2026, 3, 29), datetime(2026, 3, 29, 1, 1, tzinfo=UTC)),
        (NEW_YORK, time(2, 30), date(2026, 3, 8), datetime(2026, 3, 8, 7, tzinfo=UTC)),
        (LORD_HOWE, time(2, 15), date(2026, 10, 4), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
        # The night in which they are put back from 4 to 3: half past three is there twice.
        (RIGA, time(3, 30), date(2026, 10, 25), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        (NEW_YORK, time(1, 30), date(2026, 11, 1), datetime(2026, 11, 1, 5, 30, tzinfo=UTC)),
        # Samoa went over the date line: to its walls there was no 30 December 2011.
        (APIA, time(0), date(2011, 12, 30), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        (APIA, time(0), date(2011, 12, 31), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        (APIA, SIX, date(2011, 12, 30), datetime(2011, 12, 30, 10, tzinfo=UTC)),
        (APIA, SIX, date(2011, 12, 31), datetime(2011, 12, 30, 16, tzinfo=UTC)),
    ],
)
def test_a_gaming_day_starts_at_its_time_by_the_wall_or_when_that_is_skipped(
    zone: tzinfo, day_starts: time, day: date, starts: datetime
) -> None:
    assert gaming_day_start(day, zone, day_starts) == starts


@repeatable
@example(day=date(2026, 3, 29), zone="Europe/Riga", day_starts=time(3, 30))
@example(day=date(2026, 10, 25), zone="Europe/Riga", day_starts=time(3, 30))
@example(day=date(2026, 3, 8), zone="America/New_York", day_starts=time(2, 30))
@example(day=date(2026, 11, 1), zone="America/New_York", day_starts=time(1, 30))
@example(day=date(2026, 4, 5), zone="Australia/Lord_Howe", day_starts=time(1, 45))
@example(day=date(2011, 12, 30), zone="Pacific/Apia", day_starts=time(2, 30))
@example(day=date(2011, 12, 30), zone="Pacific/Apia", day_starts=time(0))
@given(
    day=st.dates(date(1970, 1, 3), date(2079, 12, 31)),
    zone=st.sampled_from(ZONES),
    day_starts=st.builds(time, st.integers(0, 23), st.integers(0, 59)),
)
def test_no_instant_before_its_start_belongs_to_a_gaming_day_and_its_start_does(
    day: date, zone: str, day_starts: time
) -> None:
    there = zoneinfo.ZoneInfo(zone)
    starts = gaming_day_start(day, there, day_starts)

    is_left_out = gaming_day_start(day + timedelta(days=1), there, day_starts) == starts
    assert gaming_day(starts, there, day_starts) == day + timedelta(days=is_left_out)
    assert is_left_out is ((zone, day, day_starts) == ("Pacific/Apia", date(2011, 12, 30), time(0)))
    before = [starts - timedelta(microseconds=1), *(starts - timedelta(minutes=15 * count) for count in range(1, 200))]
    assert all(gaming_day(instant, there, day_starts) < day for instant in before)


@pytest.mark.parametrize(
    ("day", "zone", "day_starts"),
    [(date.min, RIGA, time(0)), (date.max, zoneinfo.ZoneInfo("Etc/GMT+12"), time(12))],
)
def test_a_day_at_an_end_of_the_calendar_may_start_in_no_year_that_there_is(
    day: date, zone: tzinfo, day_starts: time
) -> None:
    with pytest.raises(OverflowError):
        gaming_day_start(day, zone, day_starts)
