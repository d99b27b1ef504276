"""A suspended jackpot refuses new bets, and still settles, refunds and reports. Decision 22."""

import pytest
import sqlalchemy

from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.house import House


@pytest.fixture
def suspended(house: House) -> House:
    """A jackpot with an open round, suspended since. No call suspends yet, so its stripes are told directly."""
    house.open(base_amount="1000")
    house.bet(bet("b1"))
    with house.engine.begin() as connection:
        connection.execute(sqlalchemy.text("UPDATE stripes SET accepting = false WHERE jackpot_id = 'j1'"))
    return house


def test_a_suspended_jackpot_refuses_a_bet_and_writes_nothing(suspended: House) -> None:
    before, pools = suspended.books.counts(), suspended.books.pools("j1")

    problem = suspended.post_bets(bet("b2")).problem(409, "jackpot-suspended")
    suspended.post_bets(bet("b2"), round_id="new").problem(409, "jackpot-suspended")

    assert problem["jackpot_id"] == "j1"
    assert suspended.books.counts() == before
    assert suspended.books.pools("j1") == pools


def test_a_suspended_jackpot_answers_a_replay(suspended: House) -> None:
    assert suspended.post_bets(bet("b1")).ok(200)["replayed"] == 1


def test_a_suspended_jackpot_settles_what_was_open(suspended: House) -> None:
    settlement = suspended.settle(hand("1", ROYAL_FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [100_045]


def test_a_suspended_jackpot_refunds(suspended: House) -> None:
    assert suspended.void("b1")["voided"] == ["b1"]
    assert suspended.cancel()["round"]["state"] == "cancelled"


def test_a_suspended_jackpot_says_so(suspended: House) -> None:
    assert suspended.get("/v1/jackpots/j1").ok()["is_accepting"] is False
    assert suspended.meter()["amount"] == "1000.45"


def test_another_jackpot_goes_on(suspended: House) -> None:
    suspended.open(jackpot_id="j2", tables=("T2",))

    assert suspended.bet(bet(), table_id="T2")["accepted"] == 1
    assert suspended.get("/v1/jackpots/j2").ok()["is_accepting"] is True
