"""A casino, and its gaming day: it starts when the casino says, by the clock on its wall."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

UTC_ZONE = "UTC"
MIDNIGHT = time(0)


@dataclass(frozen=True, slots=True)
class Casino:
    """The operator whose players bet. `zone` is a name of the IANA's; its gaming days start at `day_starts` there."""

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
    Tell the gaming day of an instant: the date on the wall, so many hours and minutes ago by the wall's clock.

    The subtraction is one of wall clocks, so every gaming day starts at `day_starts` by the wall, whatever hour the
    zone skips or repeats. The books figure the same in SQL: `((instant AT TIME ZONE zone) - day_starts)::date`.
    """
    wall = instant.astimezone(zone).replace(tzinfo=None)
    return (wall - timedelta(hours=day_starts.hour, minutes=day_starts.minute)).date()
