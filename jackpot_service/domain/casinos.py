"""A casino, and its gaming day: it starts when the casino says, by the clock on its wall."""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

UTC_ZONE = "UTC"
MIDNIGHT = time(0)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Casino:
    """A company that runs gaming tables. `zone` is a name of the IANA's. Gaming days start at `day_starts` there."""

    casino_id: str
    name: str
    zone: str = UTC_ZONE
    day_starts: time = MIDNIGHT

    @property
    def has_plain_days(self) -> bool:
        """Whether its gaming days are the days of UTC."""
        return (self.zone, self.day_starts) == (UTC_ZONE, MIDNIGHT)


def gaming_day(instant: datetime, zone: tzinfo, day_starts: time) -> date:
    """
    Return the gaming day of an instant: the date on the wall, so many hours and minutes ago by the wall's clock.

    The subtraction is one of wall clocks, so every gaming day starts at `day_starts` by the wall, whatever hour the
    zone skips or repeats. The books figure the same in SQL: `((instant AT TIME ZONE zone) - day_starts)::date`.
    """
    since = timedelta(hours=day_starts.hour, minutes=day_starts.minute)
    return (_wall(instant, zone) - since).date()


def gaming_day_start(day: date, zone: tzinfo, day_starts: time) -> datetime:
    """
    Return the start of a gaming day, in UTC: the first instant whose gaming day it is.

    By the wall's clock that is `day_starts`: the first of both if the zone repeats that time, and if it skips it, the
    instant at which it does. A day that a zone has left out starts when the next one does, so it is empty.

    Raises: OverflowError for a first or last day of the calendar that starts outside of it.
    """
    starts = datetime.combine(day, day_starts)
    first, second = (starts.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= second:
        return first
    # Somewhere after `second`, up to `first`, the wall's clock is put forward over `starts`.
    seconds = range((first - second) // SECOND)
    return second + bisect_left(seconds, starts, key=lambda passed: _wall(second + passed * SECOND, zone)) * SECOND


def _wall(instant: datetime, zone: tzinfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)
