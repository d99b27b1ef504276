"""The weeks that the demo plays before today: through the application, by a clock of their own, in new books."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_demo.scene import TABLES
from jackpot_service.cli.demo import past
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import read
from jackpot_service.proof.proof import verify

pytestmark = pytest.mark.long


class Evening(datetime):
    """A clock that stands in the middle of yesterday's evening: of today nothing may have been played yet."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Evening":
        return cls.combine(datetime.now(tz).date() - timedelta(days=1), time(18), tz)


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    """Connect to books in which nothing is booked."""
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def count(engine: sqlalchemy.Engine, question: str) -> int:
    return int(read(engine, lambda session: session.execute(text(question)).scalar_one()))


def played(engine: sqlalchemy.Engine, directory: Path, *, weeks: int, stop: threading.Event | None = None) -> None:
    config = replace(Config(), data_dir=directory)
    past.set_up(config, engine, weeks=weeks, seed=1, stop=stop or threading.Event())


def test_a_week_before_today_is_played_once_and_its_books_are_right(
    engine: sqlalchemy.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past, "datetime", Evening)
    played(engine, tmp_path, weeks=1)
    rounds = count(engine, "SELECT count(*) FROM rounds")
    played(engine, tmp_path, weeks=1)

    assert rounds == count(engine, "SELECT count(*) FROM rounds") >= 7 * len(TABLES)
    days = "SELECT count(DISTINCT CAST(opened_at AT TIME ZONE 'UTC' AS date)) FROM rounds"
    assert count(engine, days) == 8
    later = "SELECT count(*) FROM entries WHERE booked_at > now() OR booked_at <> received_at"
    assert count(engine, later) == 0
    assert count(engine, "SELECT count(*) FROM cycles WHERE cycle > 1") == 1
    assert count(engine, "SELECT max(number) FROM rate_sheets WHERE base = 'EUR'") == 2
    assert count(engine, "SELECT count(*) FROM award_steps WHERE step = 'approved'") > 0
    assert count(engine, "SELECT count(*) FROM statement_settlements") > 0
    assert (
        count(engine, "SELECT count(*) FROM change_requests") - count(engine, "SELECT count(*) FROM change_decisions")
        == 2
    )
    with snapshot(engine) as session:
        assert verify(session).is_clean


def test_nothing_is_played_before_today_where_somebody_booked(engine: sqlalchemy.Engine, tmp_path: Path) -> None:
    played(engine, tmp_path, weeks=0)
    before = count(engine, "SELECT count(*) FROM entries")
    played(engine, tmp_path, weeks=5)

    assert count(engine, "SELECT count(*) FROM entries") == before
    assert count(engine, "SELECT count(*) FROM rounds") == 0


def test_who_stops_it_waits_for_a_round_at_most(engine: sqlalchemy.Engine, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    played(engine, tmp_path, weeks=5, stop=stop)

    assert count(engine, "SELECT count(*) FROM rounds") == 0
    began = read(engine, lambda session: session.execute(text("SELECT min(booked_at) FROM entries")).scalar_one())
    assert datetime.now(UTC) - began > timedelta(weeks=5)
