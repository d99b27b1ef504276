"""Hits that race: two rounds never share a win, and every bet plays for the meter it was booked into."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import psycopg
import pytest
import sqlalchemy

from jackpot_service.domain.rounds import RoundView
from jackpot_service.usecases.accept_bets import BetsAccepted
from jackpot_service.usecases.settle_round import RoundSettledNow
from tests.races import books, scene
from tests.races.processes import LONGEST_RACE_S, Racer, race

pytestmark = pytest.mark.long

BASE_AMOUNT = Decimal(5000)
BETS_MEANWHILE = 60
METER_PART, RESERVE_PART = Decimal("0.45"), Decimal("0.05")


def hit(racer: Racer, *, table_id: str) -> RoundSettledNow:
    return scene.settle(racer.engine, table_id, "r1", 1, {"1": scene.ROYAL})


def bet_on_and_on(racer: Racer, *, table_id: str) -> list[BetsAccepted]:
    return [scene.bet(racer.engine, table_id, f"m{number}", scene.euro("b1")) for number in range(BETS_MEANWHILE)]


def _prepare(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2", "T3", "T4"], base_amount=str(BASE_AMOUNT))
    for table_id in ("T1", "T2"):
        scene.bet(engine, table_id, "r1", scene.euro("b1"))


def test_two_tables_hit_in_the_same_second_and_each_wins_what_its_cycle_holds(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    """Scenario 28, with bets pouring in meanwhile."""
    _prepare(engine)

    first, second, *_ = race(
        database_url,
        partial(hit, table_id="T1"),
        partial(hit, table_id="T2"),
        partial(bet_on_and_on, table_id="T3"),
        partial(bet_on_and_on, table_id="T4"),
    )

    if first.settlement["cycle"] > second.settlement["cycle"]:
        first, second = second, first
    assert (first.settlement["cycle"], first.settlement["cycle_after"]) == (1, 2)
    assert (second.settlement["cycle"], second.settlement["cycle_after"]) == (2, 3)
    bets = _bets_by_cycle(engine)
    assert sum(bets.values()) == 2 + 2 * BETS_MEANWHILE
    assert Decimal(first.settlement["meter_before"]) == BASE_AMOUNT + METER_PART * bets.get(1, 0)
    carried = Decimal(first.settlement["carried"]) + RESERVE_PART * bets.get(1, 0)
    assert Decimal(second.settlement["meter_before"]) == carried + METER_PART * bets.get(2, 0)
    left = Decimal(second.settlement["carried"]) + RESERVE_PART * bets.get(2, 0) + METER_PART * bets.get(3, 0)
    assert books.meter(engine, "live") == left
    assert books.pools(engine, "live").reserve == RESERVE_PART * bets.get(3, 0)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def _bets_by_cycle(engine: sqlalchemy.Engine) -> dict[int, int]:
    """How many bets of EUR 1 were booked in each cycle, by the place of their entries."""
    question = """
    SELECT (SELECT max(c.cycle) FROM cycles c
            WHERE c.jackpot_id = e.jackpot_id AND coalesce(c.cut[e.stripe_no + 1], 0) < e.seq), count(*)
    FROM entries e WHERE e.kind = 'bets' GROUP BY 1
    """
    return {int(cycle): int(count) for cycle, count in books.ask(engine, question)}


def test_a_bet_between_two_hits_counts_for_the_second(engine: sqlalchemy.Engine) -> None:
    """Scenario 28, in an order that is held fast: the second hit is under way before the first is booked."""
    _prepare(engine)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(books.plain(engine)) as holder:
        holder.execute("SELECT FROM rounds WHERE table_id = 'T2' FOR UPDATE")
        second_hit: Future[RoundSettledNow] = pool.submit(scene.settle, engine, "T2", "r1", 1, {"1": scene.ROYAL})
        books.wait_until_one_waits(engine)
        first = scene.settle(engine, "T1", "r1", 1, {"1": scene.ROYAL})
        between = scene.bet(engine, "T3", "r1", scene.euro("b1"))
        holder.rollback()
        second = second_hit.result(LONGEST_RACE_S)

    # Both rounds' bets were booked before the first hit, and so was its reserve of 0.10.
    assert Decimal(first.settlement["meter_before"]) == Decimal("5000.90")
    assert [award.amount_minor for award in first.awards] == [500090]
    assert between.meter.cycle == 2
    assert Decimal(second.settlement["meter_before"]) == Decimal("0.10") + Decimal("0.45")
    assert [award.amount_minor for award in second.awards] == [55]
    assert books.meter(engine, "live") == Decimal("0.05")
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


@pytest.mark.parametrize("what", ["void", "cancel", "settle"])
def test_a_refund_that_meets_a_hit_waits_for_it_and_is_the_houses(engine: sqlalchemy.Engine, what: str) -> None:
    """A dead hand beside one that the prize fund pays locks one stripe only, as a void and a cancellation do."""
    _prepare(engine)
    scene.bet(engine, "T2", "r1", scene.euro("b2", hand="2"))
    dealt = {"1": "dead", "2": scene.FLUSH}
    calls: dict[str, Callable[[], RoundView]] = {
        "void": lambda: scene.void(engine, "T2", "r1", "b1").round,
        "cancel": lambda: scene.cancel(engine, "T2", "r1").round,
        "settle": lambda: scene.settle(engine, "T2", "r1", 2, dealt).round,
    }
    with ThreadPoolExecutor(2) as pool, psycopg.connect(books.plain(engine)) as holder:
        holder.execute("LOCK TABLE awards IN ACCESS EXCLUSIVE MODE")
        hit: Future[RoundSettledNow] = pool.submit(scene.settle, engine, "T1", "r1", 1, {"1": scene.ROYAL})
        books.wait_until_one_waits(engine)  # It has locked all stripes, and cannot write its awards.
        refund = pool.submit(calls[what])
        books.wait_until_so_many_wait(engine, 2)
        holder.rollback()
        first, after = hit.result(LONGEST_RACE_S), refund.result(LONGEST_RACE_S)

    # Three bets were booked before the hit, so the next cycle began with their reserves.
    assert Decimal(first.settlement["meter_before"]) == Decimal("5001.35")
    assert after.cycle == 2
    refunded = 2 if what == "cancel" else 1
    assert books.balance(engine, "house:adjustments") == -(METER_PART + RESERVE_PART) * refunded
    assert books.meter(engine, "live") == RESERVE_PART * 3
    assert books.pools(engine, "live").reserve == 0
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
