"""A clock that only a test moves."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Every look at it is a second later than the one before, so that whatever happens has an order."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def advance(self, duration: timedelta) -> None:
        self.at += duration
