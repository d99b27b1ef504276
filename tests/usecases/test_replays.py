"""Every repeated call is counted on its round, so that its answer waits for a commit of its own."""

from collections.abc import Callable

import pytest

from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import hand
from tests.support.world import World

pytestmark = pytest.mark.slow

Call = Callable[[World], Answer]


def bet_b1(world: World) -> Answer:
    return world.post_bets(bet("b1"))


def void_b1(world: World) -> Answer:
    return world.post_voids("b1")


def void_unknown(world: World) -> Answer:
    return world.post_voids("never-seen")


def settle(world: World) -> Answer:
    return world.put_result(hand("1"), bet_count=1)


def cancel(world: World) -> Answer:
    return world.put_cancellation()


@pytest.mark.parametrize(
    ("before", "repeated"),
    [
        pytest.param([], bet_b1, id="bets of an open round"),
        pytest.param([settle], bet_b1, id="bets of a settled round"),
        pytest.param([cancel], bet_b1, id="bets of a cancelled round"),
        pytest.param([void_b1], bet_b1, id="bets that are void"),
        pytest.param([void_b1], void_b1, id="a void"),
        pytest.param([void_unknown], void_unknown, id="a void of an unknown bet"),
        pytest.param([void_unknown, settle], void_unknown, id="a void, on a settled round"),
        pytest.param([settle], settle, id="a result"),
        pytest.param([cancel], cancel, id="a cancellation"),
    ],
)
def test_a_repeated_call_is_counted_on_its_round(world: World, before: list[Call], repeated: Call) -> None:
    world.open()
    bet_b1(world).ok(201)
    for call in before:
        assert call(world).status in {200, 201}
    assert world.books.value("SELECT replays FROM rounds") == 0
    counts = world.books.counts()

    for times in (1, 2):
        repeated(world).ok(200)

        assert world.books.value("SELECT replays FROM rounds") == times
    assert world.books.counts() == counts
