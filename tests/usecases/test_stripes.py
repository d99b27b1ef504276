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
from tests.support.house import House


def spread(house: House, stripes: int, *, jackpot_id: str = "j1") -> int:
    command = AddStripes(Act(SYSTEM_OPERATOR, datetime.now(UTC)), jackpot_id, stripes)
    return transact(house.engine, lambda session: add_stripes(session, command))


def test_added_stripes_hold_nothing_and_the_meter_is_as_before(house: House) -> None:
    house.open(base_amount="1000")
    house.bet(bet("b1"))
    before = house.meter()

    assert spread(house, 9) == 4

    assert house.meter()["amount_exact"] == before["amount_exact"]
    assert house.meter()["version"] != before["version"]
    assert house.books.pools("j1").meter_house == 1000


def test_the_same_again_changes_nothing(house: House) -> None:
    house.open()
    spread(house, 9)
    counts = house.books.counts()
    assert spread(house, 9) == 9
    assert house.books.counts() == counts


def test_a_hit_after_it_takes_what_all_stripes_hold(house: House) -> None:
    house.open(base_amount="1000")
    house.bet(bet("b1"))
    spread(house, 64)
    for number in range(20):
        house.bet(bet(f"c{number}"), round_id=f"other-{number}")

    settlement = house.settle(hand("1", ROYAL_FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [100_945]


@pytest.mark.parametrize("stripes", [3, 1, MOST_STRIPES + 1])
def test_stripes_are_never_taken_away_nor_without_bound(house: House, stripes: int) -> None:
    house.open()
    counts = house.books.counts()
    with pytest.raises(TooManyStripes):
        spread(house, stripes)
    assert house.books.counts() == counts


def test_an_unknown_jackpot_has_no_stripes(house: House) -> None:
    with pytest.raises(UnknownJackpot):
        spread(house, 5, jackpot_id="j9")
