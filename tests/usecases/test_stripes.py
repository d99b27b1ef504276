"""Spreading a running jackpot over more stripes."""

from datetime import UTC, datetime

import pytest

from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import AddStripes, TooManyStripes, add_stripes
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def spread(world: World, stripes: int, *, jackpot_id: str = "j1") -> int:
    command = AddStripes(Act(SYSTEM_OPERATOR, datetime.now(UTC)), jackpot_id, stripes)
    return transact(world.engine, lambda session: add_stripes(session, command))


def test_added_stripes_hold_nothing_and_the_meter_is_as_before(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    before = world.meter()

    assert spread(world, 9) == 4

    assert world.meter()["amount_exact"] == before["amount_exact"]
    assert world.meter()["version"] != before["version"]
    assert world.books.pools("j1").meter_house == 1000


def test_the_same_again_changes_nothing(world: World) -> None:
    world.open()
    spread(world, 9)
    counts = world.books.counts()
    assert spread(world, 9) == 9
    assert world.books.counts() == counts


def test_a_hit_after_it_takes_what_all_stripes_hold(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    spread(world, 64)
    for number in range(20):
        world.bet(bet(f"c{number}"), round_id=f"other-{number}")

    settlement = world.settle(hand("1", ROYAL_FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [100_945]


@pytest.mark.parametrize("stripes", [3, 1, MOST_STRIPES + 1])
def test_stripes_are_never_taken_away_nor_without_bound(world: World, stripes: int) -> None:
    world.open()
    counts = world.books.counts()
    with pytest.raises(TooManyStripes):
        spread(world, stripes)
    assert world.books.counts() == counts


def test_an_unknown_jackpot_has_no_stripes(world: World) -> None:
    with pytest.raises(UnknownJackpot):
        spread(world, 5, jackpot_id="j9")
