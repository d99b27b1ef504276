"""Endings that race: a result against the bets of its own round, and a cancellation against a result."""

from decimal import Decimal
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rounds import RoundCancelled, RoundSettled
from jackpot_service.usecases.cancel_round import RoundCancelledNow
from jackpot_service.usecases.settle_round import BetCountMismatch, RoundSettledNow
from tests.races import books, scene
from tests.races.late_bets import BETS_BEFORE, ROUNDS, prepare, race_against
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long


def settle_until_counts_agree(racer: Racer) -> list[int]:
    """Settle each round, believing the ledger's count where it differs; tells the counts that were settled."""
    ended = []
    for round_id in ROUNDS:
        racer.meet()
        count = BETS_BEFORE
        while True:
            answer = scene.attempted(partial(scene.settle, racer.engine, "T1", round_id, count, {"1": scene.NOTHING}))
            if isinstance(answer, RoundSettledNow):
                break
            assert isinstance(answer, BetCountMismatch)
            count = int(str(answer.facts["bet_count"]))
        ended.append(answer.round.round.bet_count)
    return ended


def settle_or_not(racer: Racer) -> list[RoundSettledNow | LedgerError]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        settling = partial(scene.settle, racer.engine, "T1", round_id, BETS_BEFORE, {"1": scene.NOTHING})
        answers.append(scene.attempted(settling))
    return answers


def cancel_or_not(racer: Racer) -> list[RoundCancelledNow | LedgerError]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.attempted(partial(scene.cancel, racer.engine, "T1", round_id)))
    return answers


def cancel_unseen(racer: Racer) -> list[RoundCancelledNow | LedgerError]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.attempted(partial(scene.cancel, racer.engine, "T1", f"unseen-{round_id}")))
    return answers


def settle_unseen(racer: Racer) -> list[RoundSettledNow | LedgerError]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.attempted(partial(scene.settle, racer.engine, "T1", f"unseen-{round_id}", 0, {})))
    return answers


def bet_on_unseen(racer: Racer) -> list[object]:
    answers: list[object] = []
    for round_id in ROUNDS:
        racer.meet()
        betting = partial(scene.bet, racer.engine, "T1", f"unseen-{round_id}", scene.euro("b1"))
        answers.append(scene.attempted(betting))
    return answers


def test_a_result_settles_exactly_the_bets_it_counts_and_later_ones_are_refused(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine)

    ended, accepted = race_against(settle_until_counts_agree, database_url, refused_as=RoundSettled)

    assert ended == accepted
    for round_id, count in zip(ROUNDS, accepted, strict=True):
        assert books.round_row(engine, "T1", round_id) == ("settled", count, Decimal(count))
    assert books.meter(engine, "live") == Decimal("0.45") * sum(accepted)
    assert books.balance(engine, "casino:c1") == -sum(accepted)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_either_the_result_or_the_cancellation_ends_a_round(engine: sqlalchemy.Engine, database_url: str) -> None:
    prepare(engine)

    settled, cancelled = race(database_url, settle_or_not, cancel_or_not)

    left = 0
    for round_id, result, cancellation in zip(ROUNDS, settled, cancelled, strict=True):
        if isinstance(result, RoundSettledNow):
            assert isinstance(cancellation, RoundSettled)
            assert books.round_row(engine, "T1", round_id)[0] == "settled"
            left += BETS_BEFORE
        else:
            assert isinstance(result, RoundCancelled)
            assert len(cancellation.refunds) == BETS_BEFORE
            assert books.round_row(engine, "T1", round_id)[0] == "cancelled"
    assert books.meter(engine, "live") == Decimal("0.45") * left
    assert books.balance(engine, "casino:c1") == -left
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_an_unseen_round_is_opened_by_one_of_its_bet_its_cancellation_and_its_empty_result(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    prepare(engine)

    bets, cancelled, settled = race(database_url, bet_on_unseen, cancel_unseen, settle_unseen)

    left = len(ROUNDS) * BETS_BEFORE
    for round_id, bet, cancellation, result in zip(ROUNDS, bets, cancelled, settled, strict=True):
        state, bet_count, _ = books.round_row(engine, "T1", f"unseen-{round_id}")
        if state == "settled":  # By a result that counts no bets, so none was there.
            assert [type(bet), type(cancellation)] == [RoundSettled, RoundSettled]
            assert (bet_count, result.is_replay) == (0, False)
        else:  # The cancellation always comes: it refunds the bet, or refuses it.
            assert isinstance(result, BetCountMismatch | RoundCancelled)
            assert not cancellation.is_replay
            is_refunded = len(cancellation.refunds) == 1
            assert is_refunded is not isinstance(bet, RoundCancelled)
    assert books.meter(engine, "live") == Decimal("0.45") * left
    assert books.balance(engine, "casino:c1") == -left
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
