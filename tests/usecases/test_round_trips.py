"""How often the hot path waits for the database: each Sync that a connection sends is one round trip."""

import os
import tempfile
from collections.abc import Callable

import pytest

from tests.support.bets import bet
from tests.support.drivers import connection_of
from tests.support.hands import NOTHING, hand
from tests.support.house import House


@pytest.fixture
def opened(house: House) -> House:
    """A jackpot of which the process knows all that it remembers: keys, tables, rules and rates."""
    house.open()
    house.bet(bet(), round_id="before")
    house.settle(hand("1", NOTHING), round_id="before")
    return house


def round_trips(house: House, call: Callable[[], object]) -> int:
    """Count them on the pool's one connection that a call takes: the one that was given back last."""
    with house.engine.connect() as session:
        connection = connection_of(session)
    with tempfile.TemporaryFile() as told:
        connection.pgconn.trace(os.dup(told.fileno()))
        call()
        connection.pgconn.untrace()
        told.seek(0)
        return sum(b"\tSync" in line for line in told)


def test_bets_of_a_new_round_take_two_round_trips(opened: House) -> None:
    assert round_trips(opened, lambda: opened.bet(bet(), round_id="new")) == 2


def test_bets_of_a_known_round_take_three(opened: House) -> None:
    opened.bet(bet(), round_id="known")
    assert round_trips(opened, lambda: opened.bet(bet("b2", hand="2"), round_id="known")) == 3


def test_a_result_takes_three(opened: House) -> None:
    opened.bet(bet(), round_id="known")

    def settle() -> None:
        opened.put_result(hand("1", NOTHING), round_id="known", bet_count=1).ok(201)

    assert round_trips(opened, settle) == 3
