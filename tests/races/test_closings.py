"""Closings that race: against the bets of their round, against its result, and against themselves."""

from collections.abc import Callable
from functools import partial

import psycopg
import pytest
import sqlalchemy

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rounds import BettingClosed, RoundSettled, RoundState
from jackpot_service.usecases.close_betting import BettingClosedNow
from jackpot_service.usecases.settle_round import BetCountMismatch, ClosingRequired, RoundSettledNow
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


Answer = object
"""How the ledger answered an act, or refused it."""

Act = Callable[[sqlalchemy.Engine, str], Answer]


def close_one(engine: sqlalchemy.Engine, round_id: str) -> Answer:
    return scene.attempted(partial(scene.close, engine, "T1", round_id, BETS_BEFORE))


def settle_one(engine: sqlalchemy.Engine, round_id: str) -> Answer:
    return scene.attempted(partial(scene.settle, engine, "T1", round_id, BETS_BEFORE, {"1": scene.NOTHING}))


def hold(racer: Racer) -> None:
    """Lock each round before the others come to it, until both of them wait for it."""
    for round_id in ROUNDS:
        with psycopg.connect(books.plain(racer.engine)) as holder:
            held = holder.execute("SELECT FROM rounds WHERE round_id = %s FOR UPDATE", [round_id])
            assert held.rowcount == 1
            racer.meet()
            books.wait_until_so_many_wait(racer.engine, 2)
            holder.rollback()
        racer.meet()


def come(racer: Racer, *, act: Act, waiting_before: int) -> list[Answer]:
    """Act on each round while it is held, once so many others wait for it."""
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        books.wait_until_so_many_wait(racer.engine, waiting_before)
        answers.append(act(racer.engine, round_id))
        racer.meet()
    return answers


def in_order(url: str, first: Act, second: Act) -> tuple[list[Answer], list[Answer]]:
    """Have two acts wait for each round at once, the first of them for longer: it comes to the round first."""
    _, by_first, by_second = race(
        url, hold, partial(come, act=first, waiting_before=0), partial(come, act=second, waiting_before=1)
    )
    return by_first, by_second


def kinds_of(engine: sqlalchemy.Engine, round_id: str) -> list[str]:
    """The kinds of a round's entries after its bets, in the order of its steps."""
    question = """
    SELECT e.kind FROM entries e JOIN rounds r USING (jackpot_id, round_key)
    WHERE r.round_id = :round_id AND e.kind <> 'bets' ORDER BY e.step
    """
    return [kind for (kind,) in books.ask(engine, question, round_id=round_id)]


@pytest.mark.parametrize("close_required", ["false", "true"])
def test_a_result_that_comes_right_behind_its_closing_settles_the_round(
    engine: sqlalchemy.Engine, database_url: str, close_required: str
) -> None:
    prepare(engine, {"close_required": close_required})

    closed, settled = in_order(database_url, close_one, settle_one)

    for round_id, closing, result in zip(ROUNDS, closed, settled, strict=True):
        assert isinstance(closing, BettingClosedNow)
        assert isinstance(result, RoundSettledNow)
        assert not closing.is_replay
        assert not result.is_replay
        assert closing.round.round.state is RoundState.CLOSED
        assert kinds_of(engine, round_id) == ["closing", "result"]
        assert books.round_row(engine, "T1", round_id)[:2] == ("settled", BETS_BEFORE)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_closing_that_comes_right_behind_the_result_finds_the_round_settled(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine)

    settled, closed = in_order(database_url, settle_one, close_one)

    for round_id, closing, result in zip(ROUNDS, closed, settled, strict=True):
        assert isinstance(result, RoundSettledNow)
        assert isinstance(closing, RoundSettled)
        assert not result.is_replay
        assert kinds_of(engine, round_id) == ["result"]
        assert books.round_row(engine, "T1", round_id)[:2] == ("settled", BETS_BEFORE)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_where_the_rules_require_a_closing_a_result_right_before_it_is_refused(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine, {"close_required": "true"})

    settled, closed = in_order(database_url, settle_one, close_one)

    for round_id, closing, result in zip(ROUNDS, closed, settled, strict=True):
        assert isinstance(result, ClosingRequired)
        assert isinstance(closing, BettingClosedNow)
        assert not closing.is_replay
        assert kinds_of(engine, round_id) == ["closing"]
        assert books.round_row(engine, "T1", round_id)[:2] == ("closed", BETS_BEFORE)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_of_closings_at_once_one_closes_and_the_others_repeat_it(engine: sqlalchemy.Engine, database_url: str) -> None:
    prepare(engine)

    answers = race(database_url, close_or_not, close_or_not, close_or_not)

    for of_round in zip(*answers, strict=True):
        assert sorted(answer.is_replay for answer in of_round) == [False, True, True]
    books.require_clean(engine)
