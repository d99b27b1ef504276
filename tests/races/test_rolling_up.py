"""Processes that book, hit, roll up and add up at once: each bet is told once, wherever what it came to has got to."""

from functools import partial
from typing import Final

import pytest
import sqlalchemy

from jackpot_service.database.snapshots import snapshot
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support import rolling

pytestmark = pytest.mark.long

TABLES: Final = ("T1", "T2", "T3")
ROUNDS: Final = 40
ROUNDS_A_HIT: Final = 8
BOOKING: Final = 2
ROLLING: Final = 2


def book(racer: Racer, *, name: str) -> int:
    """Bet in rounds, of which some hit; returns how many bets there were."""
    racer.meet()
    acts = [
        partial(_play, racer.engine, table_id, f"{name}-{number}", is_hit=number % ROUNDS_A_HIT == 0)
        for number in range(ROUNDS)
        for table_id in TABLES
    ]
    booked = sum(in_threads(acts, threads=4))
    racer.meet()
    return booked


def _play(engine: sqlalchemy.Engine, table_id: str, round_id: str, *, is_hit: bool) -> int:
    accepted = scene.bet(engine, table_id, round_id, scene.euro("a"), scene.euro("b")).accepted
    if is_hit:
        scene.settle(engine, table_id, round_id, accepted, {"1": scene.ROYAL})
    return accepted


def roll_up(racer: Racer) -> int:
    """Roll up whatever is set aside, again and again; returns how often."""
    racer.meet()
    times = 0
    while racer.is_to_go_on_until(BOOKING):
        rolling.roll_up(racer.engine)
        times += 1
    racer.meet()
    return times


def add_up(racer: Racer) -> int:
    """Compare what days come to with what was posted, in one snapshot, again and again; returns how often."""
    racer.meet()
    looks = 0
    while racer.is_to_go_on_until(BOOKING):
        with snapshot(racer.engine) as session:
            assert rolling.rolled_up(session) == rolling.posted(session)
        looks += 1
    racer.meet()
    return looks


def test_each_bet_is_told_once_while_processes_book_and_roll_up(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=list(TABLES), stripes=2)
    booking = [partial(book, name=f"p{number}") for number in range(BOOKING)]

    results = race(database_url, *booking, *[roll_up] * ROLLING, add_up)

    assert all(results)
    bets = sum(results[:BOOKING])
    assert bets == BOOKING * ROUNDS * len(TABLES) * 2
    assert books.ask(engine, "SELECT sum(number) FROM figures WHERE kind = 'bets'") == [(bets,)]
    rolling.roll_up(engine)
    assert books.ask(engine, "SELECT count(*) FROM stripes WHERE summed_to < seq") == [(0,)]
    of_days = "SELECT sum(number), count(DISTINCT cycle) > 2 FROM days WHERE kind = 'bets'"
    assert books.ask(engine, of_days) == [(bets, True)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
