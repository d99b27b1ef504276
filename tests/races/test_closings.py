"""Closings that race: against the bets of their round, against its result, and against themselves."""

from functools import partial

import pytest
import sqlalchemy

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rounds import BettingClosed, RoundSettled
from jackpot_service.usecases.close_betting import BettingClosedNow
from jackpot_service.usecases.settle_round import BetCountMismatch, RoundSettledNow
from tests.races import books, scene
from tests.races.late_bets import BETS_BEFORE, ROUNDS, prepare, race_against
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long


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


def test_a_closing_counts_exactly_the_bets_before_it_and_no_later_one_slips_in(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine)

    closed, accepted = race_against(close_until_counts_agree, database_url, refused_as=BettingClosed)

    assert closed == accepted
    for round_id, count in zip(ROUNDS, accepted, strict=True):
        assert books.round_row(engine, "T1", round_id)[:2] == ("closed", count)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_result_settles_its_round_whether_the_closing_came_before_it_or_not(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine)

    closed, settled = race(database_url, close_or_not, settle)

    assert all(not answer.is_replay for answer in settled)
    assert all(isinstance(answer, BettingClosedNow | RoundSettled) for answer in closed)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_of_closings_at_once_one_closes_and_the_others_repeat_it(engine: sqlalchemy.Engine, database_url: str) -> None:
    prepare(engine)

    answers = race(database_url, close_or_not, close_or_not, close_or_not)

    for of_round in zip(*answers, strict=True):
        assert sorted(answer.is_replay for answer in of_round) == [False, True, True]
    books.require_clean(engine)
