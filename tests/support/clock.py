"""A clock that only a test moves."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from jackpot_service.proof import times
from tests.support.logins import owner_conninfo


class Clock:
    """Every look at it is a second later than the one before, so that whatever happens has an order."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def advance(self, duration: timedelta) -> None:
        self.at += duration


def trust_the_clocks_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the proof take clocks as tests move them: not always with the database's, which reports go by."""
    read = times.now
    monkeypatch.setattr(times, "LONGEST", timedelta(days=36_500))
    monkeypatch.setattr(times, "now", lambda session: max(read(session), datetime(2100, 1, 1, tzinfo=UTC)))


def let_tests_move_the_clock(url: str) -> None:
    """Switch off that the database compares a test's clock with its own; tests of the clock have another database."""
    with psycopg.connect(owner_conninfo(url)) as owner:
        for trigger in ("not_ahead", "not_added_ahead"):
            owner.execute(f"ALTER TABLE stripes DISABLE TRIGGER {trigger}")
        owner.execute("ALTER TABLE keys DISABLE TRIGGER not_revoked_in_the_past")
