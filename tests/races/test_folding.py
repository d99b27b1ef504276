"""Processes that book, fold and add up at once: every bet is told once, wherever what it came to has got to."""

from functools import partial
from typing import Final

import sqlalchemy

from jackpot_service.db import snapshot
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support import folding, rolling

TABLES: Final = ("T1", "T2", "T3")
ROUNDS: Final = 40
BOOKING: Final = 2
FOLDING: Final = 2
READING: Final = 1


def book(racer: Racer, *, name: str) -> int:
    """Bet, some rounds at once, then wait at the gate for those who go on."""
    racer.meet()
    acts = [
        partial(_bet, racer.engine, table_id, f"{name}-{number}") for number in range(ROUNDS) for table_id in TABLES
    ]
    booked = sum(in_threads(acts, threads=4))
    racer.meet()
    return booked


def _bet(engine: sqlalchemy.Engine, table_id: str, round_id: str) -> int:
    return scene.bet(engine, table_id, round_id, scene.euro("a"), scene.euro("b")).accepted


def fold_on(racer: Racer) -> int:
    """Fold whatever is noted, again and again; returns how often."""
    racer.meet()
    folds = 0
    while racer.is_to_go_on_until(BOOKING):
        folding.fold(racer.engine)
        folds += 1
    racer.meet()
    return folds


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


def test_each_bet_is_told_once_while_processes_book_and_fold(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=list(TABLES), stripes=2)

    told = race(
        database_url,
        *(partial(book, name=f"p{number}") for number in range(BOOKING)),
        *[fold_on] * FOLDING,
        *[add_up] * READING,
    )

    assert all(told)
    assert sum(told[:BOOKING]) == BOOKING * ROUNDS * len(TABLES) * 2
    assert books.ask(engine, "SELECT sum(bets) FROM bets_by_day") == [(sum(told[:BOOKING]),)]
    folding.fold(engine)
    assert books.ask(engine, "SELECT count(*) FROM recent_bets") == [(0,)]
    assert books.ask(engine, "SELECT sum(bets) FROM daily_bets") == [(sum(told[:BOOKING]),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
