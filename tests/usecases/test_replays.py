"""Every repeated call is counted on its round, so that its answer waits for a commit of its own."""

from collections.abc import Callable

import pytest

from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import hand
from tests.support.house import House

Call = Callable[[House], Answer]


def bet_b1(house: House) -> Answer:
    return house.post_bets(bet("b1"))


def void_b1(house: House) -> Answer:
    return house.post_voids("b1")


def void_unknown(house: House) -> Answer:
    return house.post_voids("never-seen")


def settle(house: House) -> Answer:
    return house.put_result(hand("1"), bet_count=1)


def cancel(house: House) -> Answer:
    return house.put_cancellation()


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
def test_a_repeated_call_is_counted_on_its_round(house: House, before: list[Call], repeated: Call) -> None:
    house.open()
    bet_b1(house).ok(201)
    for call in before:
        assert call(house).status in {200, 201}
    assert house.books.value("SELECT replays FROM rounds") == 0
    counts = house.books.counts()

    for times in (1, 2):
        repeated(house).ok(200)

        assert house.books.value("SELECT replays FROM rounds") == times
    assert house.books.counts() == counts
