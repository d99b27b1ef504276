"""Stripes added to a jackpot while bets and hits of several processes go on."""

from decimal import Decimal
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race

pytestmark = pytest.mark.long

BETTORS = 3
BETS_EACH = 150
HITS = 12
STEPS = (3, 4, 9, 16)


def spread(racer: Racer) -> list[int]:
    """Raise the stripes again and again, spread over the time that the others take."""
    return [_spread_to(racer, stripes) for stripes in STEPS]


def _spread_to(racer: Racer, stripes: int) -> int:
    racer.meet()
    command = AddStripes(Act(SYSTEM_OPERATOR, scene.now()), "live", stripes)
    return transact(racer.engine, lambda session: add_stripes(session, command))


def bet_on(racer: Racer, *, name: str) -> int:
    accepted = 0
    for part in range(len(STEPS)):
        racer.meet()
        calls = [
            partial(scene.bet, racer.engine, "T1", f"{name}-{part}-{number}", scene.euro("b"))
            for number in range(BETS_EACH)
        ]
        accepted += sum(answer.accepted for answer in in_threads(calls, threads=4))
    return accepted


def hit_on(racer: Racer) -> int:
    hits = 0
    for part in range(len(STEPS)):
        racer.meet()
        for number in range(HITS):
            round_id = f"hit-{part}-{number}"
            scene.bet(racer.engine, "T2", round_id, scene.euro("b"))
            hits += scene.settle(racer.engine, "T2", round_id, 1, {"1": scene.ROYAL}).settlement["cycle_after"] > 0
    return hits


def test_stripes_added_under_load_lose_and_double_nothing(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=2)

    before, hits, *accepted = race(
        database_url, spread, hit_on, *(partial(bet_on, name=f"p{number}") for number in range(BETTORS))
    )

    bets = BETTORS * BETS_EACH * len(STEPS) + HITS * len(STEPS)
    assert before == [2, 3, 4, 9]
    assert sum(accepted) + hits == bets
    assert books.ask(engine, "SELECT count(*), max(stripe_no) FROM stripes WHERE jackpot_id = 'live'") == [(16, 15)]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(bets,)]
    assert books.balance(engine, "house:margin") == bets * Decimal("0.1816")
    assert books.ask(engine, "SELECT max(cycle) FROM cycles") == [(HITS * len(STEPS) + 1,)]
    # All of them are used, and by more than those who came first.
    assert books.ask(engine, "SELECT count(*) FROM stripes WHERE jackpot_id = 'live' AND seq = 0") == [(0,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_two_who_add_stripes_at_once_add_them_once(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"], stripes=2)

    answers = race(database_url, spread, spread)

    # Whoever came second found the stripes that the first had added.
    assert [sorted(pair) for pair in zip(*answers, strict=True)] == [[2, 3], [3, 4], [4, 9], [9, 16]]
    added = books.ask(engine, "SELECT count(*) FROM entries WHERE kind = 'stripes_added' AND jackpot_id = 'live'")
    assert added == [(len(STEPS),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
