"""Batches that share a commit: across processes they lock in one order, and each keeps what it would have alone."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from functools import partial

import psycopg
import pytest
import sqlalchemy

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.failures import HeldUp
from jackpot_service.database.transactions import transact
from jackpot_service.domain.errors import LedgerError
from jackpot_service.usecases.accept_bets import BetsAccepted, accept_group
from tests.races import books, scene
from tests.races.processes import LONGEST_RACE_S, Racer, in_threads, race
from tests.support.loop import accepted

pytestmark = pytest.mark.long

TIMES = 4
ROUNDS = tuple(f"r{number}" for number in range(8))
MANY_ROUNDS = tuple(f"m{number}" for number in range(400))
"""So many that it takes a while to lock them: time for two transactions to meet."""

PROCESSES = 3
BETS_OF_A_PROCESS = 80

SLOW_ROUNDS = """
CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE INSERT ON rounds FOR EACH ROW EXECUTE FUNCTION slowly();
"""
"""Gives two transactions that open the same rounds the time to meet, whatever the machine."""

Outcomes = tuple[BetsAccepted | LedgerError, ...]


def bet_in_group(racer: Racer, *, who: str, order: int) -> list[Outcomes]:
    """Bet on the same new rounds as everybody, all in one transaction, in an order of one's own."""
    outcomes = []
    for time in range(TIMES):
        names = [f"{time}-{round_id}" for round_id in ROUNDS][::order]
        commands = [scene.batch("T1", round_id, scene.euro(who)) for round_id in names]
        racer.meet()
        outcomes.append(transact(racer.engine, partial(accept_group, commands=commands)))
    return outcomes


def bet_again_in_group(racer: Racer, *, who: str, order: int) -> list[Outcomes]:
    """Bet on the same known rounds as everybody, again and again, in an order of one's own."""
    outcomes = []
    for time in range(TIMES):
        commands = [scene.batch("T1", name, scene.euro(f"{who}-{time}")) for name in MANY_ROUNDS][::order]
        racer.meet()
        outcomes.append(transact(racer.engine, partial(accept_group, commands=commands)))
    return outcomes


def bet_through_groups(racer: Racer, *, who: str) -> list[BetsAccepted]:
    """Bet on the same rounds as everybody, as a worker of the server does: whatever comes at once goes together."""
    groups = BetGroups(racer.engine, threads=ThreadPoolExecutor(2), longest_wait_s=LONGEST_RACE_S, most_on_loop=1)
    commands = [
        scene.batch("T1", ROUNDS[number % len(ROUNDS)], scene.euro(f"{who}-{number}"))
        for number in range(BETS_OF_A_PROCESS)
    ]
    return in_threads([partial(accepted, groups, command) for command in commands], threads=10)


def test_groups_that_open_the_same_rounds_in_other_orders_do_not_wait_for_each_other_in_a_circle(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    with psycopg.connect(books.plain(engine)) as owner:
        owner.execute(SLOW_ROUNDS)

    answers = race(
        database_url, partial(bet_in_group, who="first", order=1), partial(bet_in_group, who="second", order=-1)
    )

    assert all(outcome.accepted == 1 for some in answers for outcomes in some for outcome in outcomes)
    assert books.ask(engine, "SELECT count(*), sum(bet_count) FROM rounds") == [
        (TIMES * len(ROUNDS), 2 * TIMES * len(ROUNDS))
    ]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_groups_that_bet_on_the_same_rounds_in_other_orders_do_not_wait_for_each_other_in_a_circle(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    first = [scene.batch("T1", name, scene.euro("first")) for name in MANY_ROUNDS]
    transact(engine, partial(accept_group, commands=first))

    answers = race(
        database_url,
        partial(bet_again_in_group, who="second", order=1),
        partial(bet_again_in_group, who="third", order=-1),
    )

    assert all(outcome.accepted == 1 for some in answers for outcomes in some for outcome in outcomes)
    bets = (1 + 2 * TIMES) * len(MANY_ROUNDS)
    assert books.ask(engine, "SELECT count(*), sum(bet_count) FROM rounds") == [(len(MANY_ROUNDS), bets)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_the_groups_of_several_workers_book_every_bet_once(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    answers = race(database_url, *(partial(bet_through_groups, who=f"w{number}") for number in range(PROCESSES)))

    bets = PROCESSES * BETS_OF_A_PROCESS
    assert [answer.accepted for some in answers for answer in some] == [1] * bets
    assert books.ask(engine, "SELECT count(*), sum(bet_count) FROM rounds") == [(len(ROUNDS), bets)]
    assert books.meter(engine, "live") == Decimal("0.45") * bets
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_round_of_a_group_is_pinned_to_the_sheet_that_was_in_force_when_its_own_batch_came(
    engine: sqlalchemy.Engine,
) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    early = scene.batch("T1", "early", scene.euro("b1"))
    scene.publish(engine, GBP="1.30")
    late = scene.batch("T1", "late", scene.euro("b1"))
    late = late._replace(now=late.now + timedelta(seconds=1))

    outcomes = transact(engine, lambda session: accept_group(session, [early, late]))

    sheets = [answer.round.round.rate_sheet for answer in outcomes if isinstance(answer, BetsAccepted)]
    assert sheets == [1, 2]
    books.require_clean(engine)


def test_a_locked_round_holds_up_no_other_that_shares_its_group(engine: sqlalchemy.Engine) -> None:
    tables = ("T1", "T2", "T3", "T4")
    scene.open_live(engine, "live", tables=tables)
    for table in tables:
        scene.bet(engine, table, "r1", scene.euro("b1"))
    impatient = create_engine(Config(lock_timeout_ms=300), engine.url.render_as_string(hide_password=False))
    groups = BetGroups(impatient, threads=ThreadPoolExecutor(2), longest_wait_s=LONGEST_RACE_S, most_on_loop=0)
    accept = {table: partial(groups.accept, scene.batch(table, "r1", scene.euro("b2"))) for table in tables}

    with psycopg.connect(books.plain(engine)) as owner, ThreadPoolExecutor(len(tables)) as pool:
        owner.execute("SELECT 1 FROM rounds WHERE table_id IN ('T1', 'T2') FOR UPDATE")
        # The first is held up by itself; the others come meanwhile, and make the next group together.
        held_up = [pool.submit(accept["T1"])]
        books.wait_until_one_waits(engine)
        held_up.append(pool.submit(accept["T2"]))
        free = [pool.submit(accept[table]) for table in ("T3", "T4")]

        assert [future.result(LONGEST_RACE_S).accepted for future in free] == [1, 1]
        assert all(isinstance(future.exception(LONGEST_RACE_S), HeldUp) for future in held_up)
    impatient.dispose()
    assert books.ask(engine, "SELECT table_id, bet_count FROM rounds ORDER BY 1") == [
        ("T1", 1),
        ("T2", 1),
        ("T3", 2),
        ("T4", 2),
    ]
    books.require_clean(engine)


def test_batches_of_another_jackpot_do_not_wait_for_those_of_one_that_is_held_up(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    scene.open_live(engine, "other", tables=["T2"])
    scene.bet(engine, "T1", "r1", scene.euro("b1"))
    groups = BetGroups(engine, threads=ThreadPoolExecutor(2), longest_wait_s=LONGEST_RACE_S, most_on_loop=0)

    with psycopg.connect(books.plain(engine)) as owner, ThreadPoolExecutor(1) as pool:
        owner.execute("SELECT 1 FROM rounds WHERE table_id = 'T1' FOR UPDATE")
        held_up = pool.submit(groups.accept, scene.batch("T1", "r1", scene.euro("b2")))
        books.wait_until_one_waits(engine)
        assert groups.accept(scene.batch("T2", "r1", scene.euro("b1"))).accepted == 1
        assert not held_up.done()
        owner.rollback()
        assert held_up.result(LONGEST_RACE_S).accepted == 1
    books.require_clean(engine)


def test_a_group_takes_one_batch_of_a_round_only(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    twice = [scene.batch("T1", "r1", scene.euro(bet_id)) for bet_id in ("b1", "b2")]
    with pytest.raises(ValueError, match="one batch of a round"):
        transact(engine, partial(accept_group, commands=twice))
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(0,)]
