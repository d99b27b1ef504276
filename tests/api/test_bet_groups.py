"""Which batches of bets may go into one transaction."""

from datetime import UTC, datetime

import pytest

from jackpot_service.api.bet_groups import MOST_BETS, _may_join
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases.accept_bets import AcceptBets


def batch(round_id: str, *, table_id: str = "T1", bets: int = 1) -> AcceptBets:
    each = (Bet(f"b{number}", "p", "1", "EUR", 100) for number in range(bets))
    return AcceptBets(SYSTEM_OPERATOR, table_id, round_id, Bets.of(each), datetime(2026, 11, 20, tzinfo=UTC))


def test_batches_of_other_rounds_go_together() -> None:
    chosen = [batch("r1"), batch("r2")]

    assert _may_join(chosen, batch("r3"))
    assert _may_join(chosen, batch("r1", table_id="T2"))


@pytest.mark.parametrize("round_id", ["r1", "r2"])
def test_a_second_batch_of_a_round_waits_for_the_next_group(round_id: str) -> None:
    assert not _may_join([batch("r1"), batch("r2")], batch(round_id, bets=2))


def test_a_group_holds_so_many_bets_and_no_more() -> None:
    chosen = [batch("r1", bets=MOST_BETS - 102), batch("r2", bets=100)]

    assert _may_join(chosen, batch("r3", bets=2))
    assert not _may_join(chosen, batch("r3", bets=3))
