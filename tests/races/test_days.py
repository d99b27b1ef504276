"""Processes that book at once while a day ends: every entry is in the sums of the day on which it was booked."""

from datetime import UTC, date, datetime, time, timedelta
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.bets import Bets
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.accept_bets import AcceptBets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.void_bets import VoidBets, void_bets
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support import rolling
from tests.support.accepting import accept_bets

pytestmark = pytest.mark.long

RIGA_SERVER = Principal("server of Riga", Role.TABLE, "riga")

ROUNDS = 40
STEP = timedelta(milliseconds=50)

DAY = date(2030, 1, 15)
MIDNIGHT = datetime(2030, 1, 15, tzinfo=UTC)
SIX_IN_RIGA = MIDNIGHT + timedelta(hours=4)


def book_around(racer: Racer, *, name: str, end: datetime) -> int:
    """Bet at both tables, and void half of it, by a clock that passes the end of a day; others' run beside it."""
    racer.meet()
    acts = [
        partial(_bet_and_void, racer.engine, table_id, f"{name}-{number}", end + (number - ROUNDS // 2) * STEP)
        for number in range(ROUNDS)
        for table_id in ("T1", "R1")
    ]
    return sum(in_threads(acts, threads=4))


def _bet_and_void(engine: sqlalchemy.Engine, table_id: str, round_id: str, now: datetime) -> int:
    bets = Bets.of([scene.euro("kept"), scene.euro("void")])
    betting = AcceptBets(scene.SERVER if table_id == "T1" else RIGA_SERVER, table_id, round_id, bets, now)
    voiding = VoidBets(betting.principal, table_id, round_id, ("void",), now)
    accepted = transact(engine, lambda session: accept_bets(session, betting)).accepted
    transact(engine, lambda session: void_bets(session, voiding))
    return accepted


def _open_house(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"], stripes=2)
    act = Act(SYSTEM_OPERATOR, scene.now())
    add = partial(add_casino, act=act, casino_id="riga", name="Riga", zone="Europe/Riga", day_starts=time(6))
    transact(engine, add)
    transact(engine, lambda session: add_table(session, act, Table("R1", "riga", "caribbean-stud", "live")))


def _race_around(engine: sqlalchemy.Engine, url: str, end: datetime) -> None:
    accepted = race(url, *(partial(book_around, name=f"p{number}", end=end) for number in range(3)))

    assert sum(accepted) == 3 * ROUNDS * 2 * 2
    assert books.ask(engine, "SELECT sum(number) FROM figures WHERE kind = 'bets'") == [(sum(accepted),)]
    with engine.connect() as session:
        assert rolling.rolled_up(session) == rolling.posted(session)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_day_of_utc_ends_while_processes_book(engine: sqlalchemy.Engine, database_url: str) -> None:
    _open_house(engine)
    _race_around(engine, database_url, MIDNIGHT)

    question = "SELECT table_id, day, gaming_day FROM figures WHERE kind = 'bets' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    eve = DAY - timedelta(days=1)
    assert books.ask(engine, question) == [("R1", eve, eve), ("R1", DAY, eve), ("T1", eve, eve), ("T1", DAY, DAY)]


def test_a_gaming_day_ends_while_processes_book(engine: sqlalchemy.Engine, database_url: str) -> None:
    _open_house(engine)
    _race_around(engine, database_url, SIX_IN_RIGA)

    question = "SELECT table_id, day, gaming_day FROM figures WHERE kind = 'bets' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    eve = DAY - timedelta(days=1)
    assert books.ask(engine, question) == [("R1", DAY, eve), ("R1", DAY, DAY), ("T1", DAY, DAY)]
