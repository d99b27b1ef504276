"""Bets that race: copies of one batch, distinct bets, a round's first bets, and a bet against its own void."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.bets import Bet
from jackpot_service.usecases.accept_bets import BetsAccepted
from jackpot_service.usecases.void_bets import BetsVoided
from tests.races import books, scene
from tests.races.processes import CONFIG, LONGEST_RACE_S, Racer, in_threads, race
from tests.support.accepting import accept_bets
from tests.support.logins import owner_url

pytestmark = pytest.mark.long

BATCH = (
    scene.euro("b1"),
    Bet("b2", "p2", "1", "GBP", 100),
    Bet("b3", "p3", "2", "SEK", 1000),
)
ROUNDS = tuple(f"r{number}" for number in range(15))


def bet_copies(racer: Racer, *, copies: int) -> list[BetsAccepted]:
    return in_threads([partial(scene.bet, racer.engine, "T1", "r1", *BATCH)] * copies, threads=copies)


def bet_each(racer: Racer, *, bets: Iterable[tuple[str, Bet]]) -> list[BetsAccepted]:
    return in_threads([partial(scene.bet, racer.engine, "T1", round_id, bet) for round_id, bet in bets], threads=10)


def bet_first(racer: Racer, *, bet_id: str) -> list[BetsAccepted]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.bet(racer.engine, "T1", round_id, scene.euro(bet_id)))
    return answers


def void_first(racer: Racer, *, bet_id: str) -> list[BetsVoided]:
    answers = []
    for round_id in ROUNDS:
        racer.meet()
        answers.append(scene.void(racer.engine, "T1", round_id, bet_id))
    return answers


def test_fifty_parallel_copies_of_one_batch_make_one_contribution(engine: sqlalchemy.Engine, database_url: str) -> None:
    """Scenario 11."""
    scene.open_live(engine, "live", tables=["T1"])

    answers: list[BetsAccepted] = [
        answer for some in race(database_url, *[partial(bet_copies, copies=10)] * 5) for answer in some
    ]

    assert len(answers) == 50
    assert sorted((answer.accepted, answer.replayed) for answer in answers) == [(0, 3)] * 49 + [(3, 0)]
    # EUR 1, GBP 1 at 1.17 and SEK 10 at 0.0873.
    value = Decimal("3.043")
    assert books.pools(engine, "live") == Pools(
        meter_players=value * Decimal("0.45"),
        reserve=value * Decimal("0.05"),
        prize_fund=value * Decimal("0.3184"),
    )
    assert books.round_row(engine, "T1", "r1") == ("open", 3, value)
    assert books.ask(engine, "SELECT replays FROM rounds") == [(49,)]
    assert books.ask(engine, "SELECT count(*) FROM entries WHERE kind = 'bets'") == [(1,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


@pytest.mark.parametrize("bets_of_a_round", [200, 1], ids=["in one round", "each in a round of its own"])
def test_two_hundred_parallel_bets_over_four_processes_are_all_booked(
    engine: sqlalchemy.Engine, database_url: str, bets_of_a_round: int
) -> None:
    """Scenario 12."""
    scene.open_live(engine, "live", tables=["T1"])
    bets = [(f"r{number // bets_of_a_round}", scene.euro(f"b{number}")) for number in range(200)]

    answers = race(database_url, *(partial(bet_each, bets=bets[number::4]) for number in range(4)))

    assert [answer.accepted for some in answers for answer in some] == [1] * 200
    assert books.pools(engine, "live") == Pools(
        meter_players=Decimal("90.00"), reserve=Decimal("10.00"), prize_fund=Decimal("63.68")
    )
    assert books.balance(engine, "house:margin") == Decimal("36.32")
    assert books.balance(engine, "casino:c1") == Decimal("-200.00")
    assert books.ask(engine, "SELECT count(*), sum(bet_count) FROM rounds") == [(200 // bets_of_a_round, 200)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_two_first_bets_open_one_round(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    answers = race(database_url, *(partial(bet_first, bet_id=bet_id) for bet_id in ("b1", "b2", "b3")))

    assert [answer.accepted for some in answers for answer in some] == [1] * 3 * len(ROUNDS)
    for round_id, first, second, third in zip(ROUNDS, *answers, strict=True):
        views = [answer.round.round for answer in (first, second, third)]
        assert len({view.round_key for view in views}) == 1
        assert sorted(view.steps for view in views) == [1, 2, 3]
        assert books.round_row(engine, "T1", round_id) == ("open", 3, Decimal(3))
    assert books.meter(engine, "live") == Decimal("0.45") * 3 * len(ROUNDS)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_bet_and_its_own_void_end_void_whichever_comes_first(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    bet_answers: list[BetsAccepted]
    void_answers: list[BetsVoided]
    bet_answers, void_answers = race(database_url, partial(bet_first, bet_id="b1"), partial(void_first, bet_id="b1"))

    for round_id, accepted, voided in zip(ROUNDS, bet_answers, void_answers, strict=True):
        void_came_first = voided.unknown == ("b1",)
        assert (accepted.accepted, accepted.void) == ((0, ("b1",)) if void_came_first else (1, ()))
        assert voided.voided == (() if void_came_first else ("b1",))
        assert books.round_row(engine, "T1", round_id) == ("open", 0, Decimal(0))
        assert scene.bet(engine, "T1", round_id, scene.euro("b1")).void == ("b1",)
    assert books.pools(engine, "live") == Pools()
    assert books.balance(engine, "house:margin") == 0
    assert books.balance(engine, "casino:c1") == 0
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def bet_when_one_waits(
    engine: sqlalchemy.Engine, pool: ThreadPoolExecutor, meanwhile: Callable[[], object]
) -> Future[object]:
    """
    Open a round by a bet while another call for it stands between two of its statements.

    The other call finds no round, then waits to read the bets, and reads them when the round and its bet are there.
    """

    def act(session: Session) -> Future[object]:
        session.execute(text("LOCK TABLE bets IN ACCESS EXCLUSIVE MODE"))
        waiting = pool.submit(meanwhile)
        books.wait_until_one_waits(engine)
        accept_bets(session, scene.batch("T1", "r1", scene.euro("b1")))
        return waiting

    owners = create_engine(CONFIG, owner_url(engine.url.render_as_string(hide_password=False)))  # Who may lock bets.
    try:
        return transact(owners, act)
    finally:
        owners.dispose()


@pytest.mark.parametrize("what", ["void", "cancel", "settle"])
def test_a_call_that_found_no_round_and_then_its_bet_reads_again(engine: sqlalchemy.Engine, what: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    calls: dict[str, Callable[[], object]] = {
        "void": partial(scene.void, engine, "T1", "r1", "b1"),
        "cancel": partial(scene.cancel, engine, "T1", "r1"),
        "settle": partial(scene.settle, engine, "T1", "r1", 1, {"1": "dead"}),
    }
    with ThreadPoolExecutor(1) as pool:
        bet_when_one_waits(engine, pool, calls[what]).result(LONGEST_RACE_S)

    # However it came to it, the one bet is refunded.
    assert books.ask(engine, "SELECT count(*) FROM rounds") == [(1,)]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(1,)]
    assert books.pools(engine, "live") == Pools()
    assert books.balance(engine, "casino:c1") == 0
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
