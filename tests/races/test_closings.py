"""Closings that race: against the bets of their round, against its result, and against themselves."""

from functools import partial

import pytest
import sqlalchemy

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rounds import BettingClosed, RoundSettled
from jackpot_service.usecases.close_betting import BettingClosedNow
from jackpot_service.usecases.settle_round import BetCountMismatch, RoundSettledNow
from tests.races import books, scene
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long

ROUNDS = tuple(f"r{number}" for number in range(15))
BETS_BEFORE = 3
LATE_BETS = 6


def bet_on(racer: Racer, *, who: str) -> list[list[bool]]:
    """Bet one by one on each round as it is closed; tells of each bet whether it was accepted."""
    accepted = []
    for round_id in ROUNDS:
        racer.meet()
        accepted.append([_is_accepted(racer, round_id, f"{who}{number}") for number in range(LATE_BETS)])
    return accepted


def _is_accepted(racer: Racer, round_id: str, bet_id: str) -> bool:
    answer = scene.attempted(lambda: scene.bet(racer.engine, "T1", round_id, scene.euro(bet_id)))
    assert not isinstance(answer, LedgerError) or isinstance(answer, BettingClosed)
    return not isinstance(answer, LedgerError)


def close_until_counts_agree(racer: Racer) -> list[int]:
    """Close each round, believing the ledger's count where it differs; tells the counts that were closed."""
    closed = []
    for round_id in ROUNDS:
        racer.meet()
        count = BETS_BEFORE
        while True:
            answer = scene.attempted(partial(scene.close, racer.engine, "T1", round_id, count))
            if isinstance(answer, BettingClosedNow):
                break
            assert isinstance(answer, BetCountMismatch)
            count = int(str(answer.facts["bet_count"]))
        closed.append(count)
    return closed


def close_or_not(racer: Racer) -> list[BettingClosedNow | LedgerError]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.attempted(partial(scene.close, racer.engine, "T1", round_id, BETS_BEFORE)))
    return answers


def settle(racer: Racer) -> list[RoundSettledNow]:
    settled = []
    for round_id in ROUNDS:
        racer.meet()
        settled.append(scene.settle(racer.engine, "T1", round_id, BETS_BEFORE, {"1": scene.NOTHING}))
    return settled


def _prepare(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    for round_id in ROUNDS:
        scene.bet(engine, "T1", round_id, *(scene.euro(f"before{number}") for number in range(BETS_BEFORE)))


def test_a_closing_counts_exactly_the_bets_before_it_and_no_later_one_slips_in(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    _prepare(engine)

    closed, first, second = race(
        database_url, close_until_counts_agree, partial(bet_on, who="first"), partial(bet_on, who="second")
    )

    accepted = [BETS_BEFORE + sum(first[index]) + sum(second[index]) for index in range(len(ROUNDS))]
    assert closed == accepted
    for round_id, count in zip(ROUNDS, accepted, strict=True):
        assert books.round_row(engine, "T1", round_id)[:2] == ("closed", count)
    assert all(row == sorted(row, reverse=True) for row in (*first, *second))
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_result_settles_its_round_whether_the_closing_came_before_it_or_not(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    _prepare(engine)

    closed, settled = race(database_url, close_or_not, settle)

    assert all(not one.is_replay for one in settled)
    assert all(isinstance(one, BettingClosedNow | RoundSettled) for one in closed)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_of_closings_at_once_one_closes_and_the_others_repeat_it(engine: sqlalchemy.Engine, database_url: str) -> None:
    _prepare(engine)

    answers = race(database_url, close_or_not, close_or_not, close_or_not)

    for of_round in zip(*answers, strict=True):
        assert sorted(one.is_replay for one in of_round) == [False, True, True]
    books.require_clean(engine)
