"""Bets that are booked at tables with other gaming days, and what their days hold then."""

from datetime import UTC, datetime
from typing import Final

import pytest

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group
from tests.support import rolling
from tests.support.reading import Rows
from tests.support.world import World

SERVER: Final = Principal("server", Role.TABLE)
MIDNIGHT: Final = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def opened(world: World) -> World:
    """Live Caribbean Stud on one stripe, at a table of UTC and one of Riga, whose days start at 06:00 (04:00 UTC)."""
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    world.open(stripes=1)
    world.add_table("R1", jackpot_id="j1", casino_id="riga")
    return world


def batch(table_id: str, round_id: str, now: datetime) -> AcceptBets:
    """A euro on a hand, as it came at an instant."""
    return AcceptBets(SERVER, table_id, round_id, Bets.of([Bet("b", "p", "1", "EUR", 100)]), now)


def book(world: World, *group: AcceptBets) -> None:
    answers = world.transact(lambda session: accept_group(session, group))
    assert all(isinstance(answer, BetsAccepted) for answer in answers), answers


def days_of(world: World, kind: str, columns: str = "*", rest: str = "ORDER BY 1, 2, 3", where: str = "true") -> Rows:
    """What the days hold of a kind when everything is in them."""
    rolling.roll_up(world.engine)
    return world.books.rows(f"SELECT {columns} FROM days WHERE kind = '{kind}' AND {where} {rest}")  # noqa: S608
