"""Which batches of bets may go into one transaction."""

from datetime import UTC, datetime

import pytest

from jackpot_service.api.bet_groups import MOST_BETS, MOST_BETS_SHARED, Joining
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases.accept_bets import AcceptBets


def batch(round_id: str, *, table_id: str = "T1", bets: int = 1) -> AcceptBets:
    each = (Bet(f"b{number}", "p", "1", "EUR", 100) for number in range(bets))
    return AcceptBets(SYSTEM_OPERATOR, table_id, round_id, Bets.of(each), datetime(2026, 11, 20, tzinfo=UTC))


def joined(*batches: AcceptBets, sharing: int = 1) -> list[bool]:
    return [*map(Joining(sharing), batches)]


def test_batches_of_other_rounds_go_together() -> None:
    assert joined(batch("r1"), batch("r2"), batch("r3"), batch("r1", table_id="T2")) == [True] * 4


@pytest.mark.parametrize("round_id", ["r1", "r2"])
def test_a_second_batch_of_a_round_waits_for_the_next_group(round_id: str) -> None:
    assert joined(batch("r1"), batch("r2"), batch(round_id, bets=2), batch("r3")) == [True, True, False, True]


def test_a_group_holds_so_many_bets_and_no_more() -> None:
    chosen = [batch("r1", bets=MOST_BETS - 102), batch("r2", bets=100)]

    assert joined(*chosen, batch("r3", bets=3), batch("r4", bets=2)) == [True, True, False, True]


def test_a_batch_that_is_larger_than_a_group_goes_alone() -> None:
    assert joined(batch("r1", bets=MOST_BETS + 1), batch("r2")) == [True, False]


def test_a_batch_that_is_left_keeps_the_later_ones_of_its_round_behind_it() -> None:
    chosen = [batch("r1", bets=MOST_BETS - 100), batch("r2", bets=101)]

    assert joined(*chosen, batch("r2", bets=1), batch("r3", bets=1)) == [True, False, False, True]


def test_while_casinos_share_a_jackpot_its_groups_are_smaller() -> None:
    chosen = [batch("r1", bets=MOST_BETS_SHARED - 1), batch("r2", bets=2), batch("r3")]

    assert joined(*chosen, sharing=2) == [True, False, True]
    assert joined(*chosen, sharing=1) == [True, True, True]
