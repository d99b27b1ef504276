"""Who has no job reconciles days, gives way to jobs, and leaves alone what it cannot read."""

import threading
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import NullPool, event, text
from structlog.testing import capture_logs

from jackpot_service.database.snapshots import snapshot
from jackpot_service.reports import reconciling
from jackpot_service.reports.reconciling import FIRST_PAUSE_S, LONGEST_PAUSE_S, LOOK_EVERY_S, Days
from tests.support.bets import bet
from tests.support.logins import owner_url
from tests.support.reading import past_the_service
from tests.support.world import World

BROKEN = "UPDATE entries SET movements[1] = 'x' || movements[1] WHERE kind = 'bets' AND jackpot_id = 'j1'"
MENDED = "UPDATE entries SET movements[1] = substr(movements[1], 2) WHERE kind = 'bets' AND jackpot_id = 'j1'"


class Seconds:
    """A monotonic clock that only a test moves."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def played(world: World) -> World:
    """Two jackpots, of each a day that is over."""
    for number in (1, 2):
        world.open(jackpot_id=f"j{number}", tables=(f"T{number}",))
        world.bet(bet(), table_id=f"T{number}")
    world.clock.advance(timedelta(days=2))
    return world


def reconciled(world: World) -> list[str]:
    return [row["jackpot_id"] for row in world.books.rows("SELECT DISTINCT jackpot_id FROM reconciled_days ORDER BY 1")]


def test_it_reconciles_one_day_after_the_other(played: World) -> None:
    reading = Days(played.engine, threading.Event(), clock=played.clock)

    assert [reading.reconcile_next() for _ in range(5)] == [*[True] * 4, False]

    assert reconciled(played) == ["j1", "j2"]


def test_a_jackpot_of_which_a_day_cannot_be_read_is_left_alone_for_longer_and_longer(
    played: World, database_url: str
) -> None:
    seconds = Seconds()
    reading = Days(played.engine, threading.Event(), clock=played.clock, monotonic=seconds)
    past_the_service(database_url, BROKEN)

    with capture_logs() as log_lines:
        for _ in range(8):
            assert not reading.reconcile_next()
            failures = len(log_lines)
            seconds.at += log_lines[-1]["again_in_s"] - LOOK_EVERY_S - 1
            while reading.reconcile_next():
                pass
            assert {line["event"] for line in log_lines[failures:]} <= {"day-reconciled"}
            seconds.at += LOOK_EVERY_S + 1

    past_the_service(database_url, MENDED)
    pauses = [line["again_in_s"] for line in log_lines if line["event"] == "day-not-reconciled"]
    assert pauses == [min(FIRST_PAUSE_S * 2**number, LONGEST_PAUSE_S) for number in range(8)]
    assert reconciled(played) == ["j2"]
    assert reading.reconcile_next()
    assert reconciled(played) == ["j1", "j2"]


def test_one_that_is_told_to_stop_keeps_nothing_of_the_day_that_it_reads(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciling, "SLICE", 1)
    stop = threading.Event()
    event.listen(
        played.engine,
        "before_cursor_execute",
        lambda *statement: stop.set() if "FROM effects" in statement[2] else None,
    )

    assert not Days(played.engine, stop, clock=played.clock).reconcile_next()

    assert stop.is_set()
    assert reconciled(played) == []


def test_whoever_finds_another_at_it_reads_nothing(played: World) -> None:
    seconds = Seconds()
    reading = Days(played.engine, threading.Event(), clock=played.clock, monotonic=seconds)
    with snapshot(played.engine) as another:
        assert another.scalar(text("SELECT pg_try_advisory_xact_lock(hashtext('reconciling'))"))
        assert not reading.reconcile_next()

    assert reconciled(played) == []
    seconds.at += LOOK_EVERY_S
    assert reading.reconcile_next()


def test_who_found_none_looks_again_only_after_a_while(played: World) -> None:
    seconds = Seconds()
    reading = Days(played.engine, threading.Event(), clock=played.clock, monotonic=seconds)
    while reading.reconcile_next():
        pass
    played.bet(bet(), round_id="later")
    played.clock.advance(timedelta(days=2))

    seconds.at += LOOK_EVERY_S - 1
    assert not reading.reconcile_next()
    seconds.at += 1
    assert reading.reconcile_next()


CLOCK = """
CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
AS $$ SELECT TIMESTAMPTZ '{at}' $$;
"""
"""A clock of the database that stands, which connections see that look in `public` first."""


def look_in_public_first(connection: psycopg.Connection[Any], _record: object) -> None:
    connection.execute("SET search_path = public, pg_catalog")
    connection.commit()


def test_a_day_is_over_by_the_databases_clock(world: World, database_url: str) -> None:
    world.open()
    world.bet(bet())
    event.listen(world.engine, "connect", look_in_public_first)
    world.close()

    set_the_databases_clock(database_url, world.clock.at)
    assert not Days(world.engine, threading.Event()).reconcile_next()

    set_the_databases_clock(database_url, world.clock.at + timedelta(days=2))
    assert Days(world.engine, threading.Event()).reconcile_next()


def set_the_databases_clock(url: str, at: datetime) -> None:
    with sqlalchemy.create_engine(owner_url(url), poolclass=NullPool).begin() as owner:
        owner.exec_driver_sql(CLOCK.format(at=at))
