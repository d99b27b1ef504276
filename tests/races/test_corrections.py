"""Corrections that race with bets, hits and each other: nothing is lost, and the books can be derived again."""

from functools import partial

import pytest
import sqlalchemy

from jackpot_service.domain.corrections import NothingToCorrect
from jackpot_service.domain.errors import LedgerError
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.changes.effects import ChangeEffect
from tests.races import books, scene
from tests.races.processes import Racer, race

pytestmark = pytest.mark.long

ROUND = RoundName("T1", "r1")
ROUNDS_MEANWHILE = 25


def correct_on_and_on(racer: Racer, *, cards: str) -> list[ChangeEffect | LedgerError]:
    """Try again and again to have the round's hand be of these cards; whoever comes second is refused."""
    return [scene.attempted(lambda: scene.correct(racer.engine, "cyber", ROUND, 1, {"1": cards})) for _ in range(10)]


def play_on_and_on(racer: Racer, *, table_id: str) -> None:
    """Bets and awards of the meter, partial ones and now and then all of it."""
    for number in range(ROUNDS_MEANWHILE):
        scene.bet(racer.engine, table_id, f"m{number}", scene.euro("b1"))
        cards = (scene.NOTHING, scene.FLUSH, scene.STRAIGHT_FLUSH, scene.ROYAL)[number % 4]
        scene.settle(racer.engine, table_id, f"m{number}", 1, {"1": cards})


def test_corrections_among_bets_and_hits_neither_lose_nor_pay_anything_twice(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_cyber(engine, "cyber", tables=["T1", "T2", "T3"])
    scene.bet(engine, *ROUND, scene.euro("b1"))
    scene.settle(engine, *ROUND, 1, {"1": scene.STRAIGHT_FLUSH})

    first, second, *_ = race(
        database_url,
        partial(correct_on_and_on, cards=scene.NOTHING),
        partial(correct_on_and_on, cards=scene.ROYAL),
        partial(play_on_and_on, table_id="T2"),
        partial(play_on_and_on, table_id="T3"),
    )

    done = [answer.after or {} for answer in (*first, *second) if isinstance(answer, ChangeEffect)]
    refused = [answer for answer in (*first, *second) if not isinstance(answer, ChangeEffect)]
    assert sorted(answer["number"] for answer in done) == list(range(1, len(done) + 1))
    assert all(isinstance(answer, NothingToCorrect) for answer in refused)
    query = "SELECT count(*) FROM awards a WHERE a.round_key IN (SELECT round_key FROM corrections) AND NOT EXISTS ("
    reversed_ = "SELECT FROM award_steps s WHERE (s.round_key, s.correction) = (a.round_key, a.correction) "
    (left,) = books.ask(engine, f"{query}{reversed_}AND s.step = 'reversed')")
    assert left[0] == (max(done, key=lambda answer: answer["number"])["awards"] != [])
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
