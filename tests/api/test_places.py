"""Places: whoever is alone may have all, and as soon as another comes that one has a share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.api.places import Caller, Places
from jackpot_service.database.failures import Busy

FLOOD, OTHER, SAME_CASINO = Caller("c1", "flood"), Caller("c2", "other"), Caller("c1", "quiet")


def taken(places: Places, caller: Caller) -> int:
    """Take places until there are no more for this caller."""
    count = 0
    while places.has_taken(caller):
        count += 1
    return count


def test_a_caller_who_is_alone_may_have_every_place_and_no_more() -> None:
    places = Places("calls", 8)
    assert taken(places, FLOOD) == 8
    with pytest.raises(Busy):
        places.take(FLOOD)
    places.give_back(FLOOD)
    places.take(FLOOD)


@pytest.mark.parametrize("other", [OTHER, SAME_CASINO])
def test_another_caller_finds_half_of_the_places_though_all_are_taken(other: Caller) -> None:
    places = Places("calls", 8)
    taken(places, FLOOD)
    assert taken(places, other) == 4


def test_a_caller_that_takes_no_place_shares_with_nobody() -> None:
    places = Places("bytes", 8)
    for number in range(3):
        places.take(Caller(f"empty {number}", "key"), 0)
        places.give_back(Caller("unknown", "key"), 0)
    taken(places, FLOOD)
    places.take(OTHER, 0)
    assert taken(places, OTHER) == 4


def test_who_has_more_than_a_share_gets_none_until_places_are_free_again() -> None:
    places = Places("calls", 8)
    taken(places, FLOOD)
    taken(places, OTHER)
    for _ in range(4):
        places.give_back(FLOOD)
        assert not places.has_taken(FLOOD)
    places.give_back(FLOOD)
    assert places.has_taken(FLOOD)
    assert not places.has_taken(FLOOD)


def test_a_casino_of_many_keys_has_no_more_than_one_of_a_single_key() -> None:
    places = Places("calls", 12)
    taken(places, OTHER)
    keys = [Caller("c1", f"key {number}") for number in range(6)]
    assert sum(places.has_taken(key) for _ in range(12) for key in keys) == 6
    places = Places("calls", 12)
    assert sum(taken(places, key) for key in keys) == 24
    assert taken(places, OTHER) == 6


def test_a_large_call_holds_several_places_and_is_taken_if_it_is_alone_however_large() -> None:
    places = Places("calls", 8, at_most=16)
    with places.place(FLOOD, 20):
        assert not places.has_taken(FLOOD)
        assert not places.has_taken(OTHER)
    assert taken(places, OTHER) == 8


def test_no_more_are_given_than_may_be() -> None:
    places = Places("calls", 3, at_most=5)
    assert [taken(places, caller) for caller in (FLOOD, OTHER, Caller("c3", "third"), Caller("c4", "fourth"))] == [
        3,
        1,
        1,
        0,
    ]


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xy"), st.integers(1, 9), st.booleans()), max_size=80))
def test_places_that_are_given_back_are_there_again(acts: list[tuple[str, str, int, bool]]) -> None:
    places, held = Places("calls", 16), list[tuple[Caller, int]]()
    for casino, key, count, gives_back in acts:
        if gives_back and held:
            places.give_back(*held.pop())
        elif places.has_taken(Caller(casino, key), count):
            held.append((Caller(casino, key), count))
        assert sum(count for _, count in held) < places.at_most + 9
        assert places.is_one_free == (sum(count for _, count in held) < 16)
    while held:
        places.give_back(*held.pop())
    assert taken(places, FLOOD) == 16
