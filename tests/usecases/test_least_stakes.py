"""The least stake: in the base currency, whatever currency a bet is in."""

import pytest

from tests.support.bets import bet
from tests.support.hands import NOTHING, dead, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def bounded(world: World) -> World:
    """Stakes of EUR 1.00 to 100.00; a pound is worth EUR 1.17, so that GBP 0.86 is the least (EUR 1.0062)."""
    world.open(settings={"least_stake": "1.00"})
    return world


def test_the_bounds_themselves_are_accepted(bounded: World) -> None:
    bounded.post_bets(bet("a", stake_minor=99), bet("b", stake_minor=10_001)).problem(422, "stake-out-of-range")
    bounded.bet(bet("a", stake_minor=100), bet("b", stake_minor=10_000))


def test_a_least_stake_waits_for_the_hit_and_is_taken_away_by_null(bounded: World) -> None:
    bounded.change("rules", {"jackpot_id": "j1", "settings": {"least_stake": None}}, request_id="lower")

    bounded.post_bets(bet(stake_minor=99)).problem(422, "stake-out-of-range")

    rules = bounded.get("/v1/jackpots/j1/rules").ok()
    assert rules["rules"]["least_stake"] == "1"
    assert "least_stake" not in rules["pending"]["rules"]
    assert rules["amounts"]["least_stake"] == 100
    assert "A bet must be worth at least 1 EUR." in rules["text"]


def test_bets_below_the_least_stake_of_a_later_version_stand(world: World) -> None:
    """A round keeps the version that it was opened under."""
    world.open()
    world.bet(bet("a", stake_minor=1))
    world.change("rules", {"jackpot_id": "j1", "settings": {"least_stake": "5"}}, request_id="higher")

    world.bet(bet("b", stake_minor=1, hand="2"))
    world.settle(hand("1", NOTHING), dead("2"))

    assert world.books.mismatches() == ()
