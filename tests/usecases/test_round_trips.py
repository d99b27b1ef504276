"""How often the hot path waits for the database: each Sync that a connection sends is one round trip."""

import pytest

from tests.support.bets import bet
from tests.support.drivers import round_trips, warm
from tests.support.hands import NOTHING, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(world: World) -> World:
    """A jackpot of which the process knows all that it remembers: keys, tables, rules and rates."""
    world.open()
    warm(world)
    world.settle(hand("1", NOTHING), round_id="before")
    return world


def test_bets_of_a_new_round_take_two_round_trips(opened: World) -> None:
    assert round_trips(opened, lambda: opened.bet(bet(), round_id="new")) == 2


def test_bets_of_a_known_round_take_three(opened: World) -> None:
    opened.bet(bet(), round_id="known")
    assert round_trips(opened, lambda: opened.bet(bet("b2", hand="2"), round_id="known")) == 3


def test_a_result_takes_three(opened: World) -> None:
    opened.bet(bet(), round_id="known")

    def settle() -> None:
        opened.put_result(hand("1", NOTHING), round_id="known", bet_count=1).ok(201)

    assert round_trips(opened, settle) == 3
