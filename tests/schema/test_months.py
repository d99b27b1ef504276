"""Partitions of months are made ahead; whatever month it is, bets are taken, kept behind the walls, and proved."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from jackpot_service.domain.rounds import Month, keys_of
from jackpot_service.schema import months
from tests.races import books
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.logins import owner_conninfo, owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow

YEAR = timedelta(days=365)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(owner_conninfo(database_url)) as connection:
        yield connection


def name_of(month: Month) -> str:
    return f"bets_{month.year}_{month.number:02}"


def partitions(connection: psycopg.Connection[Any]) -> set[str]:
    return {
        name
        for (name,) in connection.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'bets'::regclass"
        )
    }


def where_bets_are(world: World) -> dict[str, int]:
    rows = world.books.rows("SELECT tableoid::regclass::text AS place, count(*) FROM bets GROUP BY 1")
    return {row["place"]: row["count"] for row in rows}


def test_the_months_that_lack_a_partition_get_one_and_only_once(
    owner: psycopg.Connection[Any], database_url: str
) -> None:
    now = datetime.now(UTC) + YEAR
    month = Month.of(now)

    assert months.make(owner_url(database_url), now=now, ahead=1) == months.Made([month, month.later(1)], [])
    assert months.make(owner_url(database_url), now=now, ahead=2) == months.Made([month.later(2)], [])
    assert months.make(owner_url(database_url), now=now, ahead=2) == months.Made([], [])

    assert {name_of(month.later(number)) for number in range(3)} <= partitions(owner)


def test_what_came_before_the_partitions_has_one_of_its_own(database_url: str) -> None:
    assert months.make(owner_url(database_url), now=LONG_AGO) == months.Made([], [])


def test_the_first_partition_ends_with_a_month_that_is_not_about_to_end(owner: psycopg.Connection[Any]) -> None:
    # When the tests' database was made: what was today then may be yesterday now.
    ((made_at,),) = owner.execute("SELECT min(applied_at) FROM schema_versions").fetchall()
    end = keys_of(Month.of(made_at + timedelta(days=1))).end
    (bound,) = owner.execute(
        "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'bets_before'"
    ).fetchall()
    assert bound == (f"FOR VALUES FROM (MINVALUE) TO ('{end}')",)


def test_bets_are_kept_by_their_months_and_those_of_no_month_by_default(world: World, database_url: str) -> None:
    world.open()
    world.bet(bet("b1"), bet("b2"), round_id="r1")
    world.clock.at = datetime.now(UTC) + YEAR
    world.bet(bet("b1"), round_id="r2")
    coming = Month.of(world.clock.at).later(1)
    months.make(owner_url(database_url), now=coming.begins_at, ahead=1)
    world.clock.at = coming.begins_at
    world.bet(bet("b1"), round_id="r3")
    world.clock.at = coming.later(1).begins_at - timedelta(seconds=2)
    world.bet(bet("b1"), round_id="r4")
    world.bet(bet("b1"), round_id="r5")

    assert where_bets_are(world) == {
        "bets_before": 2,
        "bets_default": 1,
        name_of(coming): 2,
        name_of(coming.later(1)): 1,
    }
    # Wherever they are, they can be repeated, made void and settled.
    assert world.post_bets(bet("b1"), round_id="r2").ok(200)["replayed"] == 1
    for round_id in ("r1", "r2", "r3", "r4"):
        world.void("b1", round_id=round_id)
    for round_id in ("r1", "r5"):
        world.settle(hand("1", NOTHING), round_id=round_id)


def test_a_month_whose_bets_came_first_keeps_them_where_they_are(world: World, database_url: str) -> None:
    world.open()
    world.clock.at = datetime.now(UTC) + YEAR
    world.bet(bet("b1"))
    late = Month.of(world.clock.at)

    made = months.make(owner_url(database_url), now=world.clock.at, ahead=1)
    again = months.make(owner_url(database_url), now=world.clock.at, ahead=1)

    assert (made, again) == (months.Made([late.later(1)], [late]), months.Made([], [late]))
    world.bet(bet("b2"))
    assert where_bets_are(world) == {"bets_default": 2}


def test_a_bet_on_its_way_to_the_default_partition_finds_its_month_when_that_comes_first(
    world: World, database_url: str
) -> None:
    world.open()
    world.clock.at = datetime.now(UTC) + YEAR
    month = Month.of(world.clock.at)
    attaching = sql.SQL(
        "CREATE TABLE {name} (LIKE bets INCLUDING ALL);"
        "ALTER TABLE bets ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end})"
    ).format(name=sql.Identifier(name_of(month)), **{k: sql.Literal(v) for k, v in keys_of(month)._asdict().items()})
    with psycopg.connect(owner_conninfo(database_url)) as owner, ThreadPoolExecutor(1) as pool:
        owner.execute(attaching)
        betting = pool.submit(world.bet, bet("b1"))
        books.wait_until_one_waits(world.engine)
        owner.commit()
        assert betting.result(books.LONGEST_WAIT_S)["accepted"] == 1

    assert where_bets_are(world) == {name_of(month): 1}


# --- The walls ------------------------------------------------------------------------------------------------------


def test_no_partition_can_be_rewritten_and_the_application_has_no_right_on_any(
    world: World, database_url: str, owner: psycopg.Connection[Any]
) -> None:
    world.open()
    world.bet(bet("b1"))
    coming = datetime.now(UTC) + YEAR
    month = Month.of(coming)
    months.make(owner_url(database_url), now=coming, ahead=0)
    world.clock.at = coming
    world.bet(bet("b1"), round_id="r2")
    world.clock.at = coming + YEAR
    world.bet(bet("b1"), round_id="r3")

    assert {"bets_before", "bets_default", name_of(month)} <= partitions(owner)
    for name in ("bets_before", "bets_default", name_of(month)):
        for statement in ("UPDATE {} SET stake_minor = 1", "DELETE FROM {}", "TRUNCATE {}"):
            refused(owner, statement, name, message="append-only")
        for statement in ("SELECT FROM {}", "INSERT INTO {} SELECT * FROM bets", "DELETE FROM {}", "TRUNCATE {}"):
            refused(owner, f"SET SESSION AUTHORIZATION jackpot_app; {statement}", name, message="permission denied")
    walls = "SELECT count(*) FROM pg_trigger WHERE tgrelid = {}::regclass AND tgname IN ('append_only', 'no_truncate')"
    for name in partitions(owner):
        assert owner.execute(sql.SQL(walls).format(name)).fetchone() == (2,), name


def refused(owner: psycopg.Connection[Any], statement: str, name: str, *, message: str) -> None:
    with pytest.raises(InsufficientPrivilege, match=message):
        owner.execute(sql.SQL(statement).format(sql.Identifier(name)))
    owner.rollback()


# --- What may be in the way -----------------------------------------------------------------------------------------


def test_a_long_reader_is_waited_for_and_not_for_ever(database_url: str, owner: psycopg.Connection[Any]) -> None:
    owner.execute("SELECT count(*) FROM bets")
    before = partitions(owner)

    with pytest.raises(months.BetsInUse, match="read the bets for longer"):
        months.make(owner_url(database_url), now=datetime.now(UTC) + YEAR, attempts=2)

    assert partitions(owner) == before
    owner.rollback()
    assert months.make(owner_url(database_url), now=datetime.now(UTC) + YEAR, attempts=2).months != []


def test_a_month_is_attached_as_soon_as_the_reader_is_done(database_url: str, owner: psycopg.Connection[Any]) -> None:
    engine = sqlalchemy.create_engine(owner_url(database_url), poolclass=sqlalchemy.NullPool)
    owner.execute("SELECT count(*) FROM bets")
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(months.make, owner_url(database_url), now=datetime.now(UTC) + YEAR, ahead=0)
        books.wait_until_one_waits(engine)
        owner.rollback()
        assert len(making.result(books.LONGEST_WAIT_S).months) == 1


def test_a_default_partition_that_takes_too_long_to_look_through_holds_nobody_up(
    database_url: str, owner: psycopg.Connection[Any]
) -> None:
    owner.execute("INSERT INTO jackpots VALUES ('live', 'EUR')")
    owner.execute(
        """
        INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)
        SELECT 'live', %s, n, 1, 'p', '1', 'EUR', 1 FROM generate_series(1, 100000) AS n
        """,
        [keys_of(Month(2100, 1)).first],
    )
    owner.commit()
    before = partitions(owner)

    with pytest.raises(months.AttachingTooLong, match="--stall-ms"):
        months.make(owner_url(database_url), now=datetime.now(UTC) + YEAR, stall_ms=1)
    assert partitions(owner) == before

    made = months.make(owner_url(database_url), now=datetime.now(UTC) + YEAR, stall_ms=60_000)
    assert len(made.months) == months.AHEAD + 1


def test_another_table_of_the_name_is_left_alone(database_url: str, owner: psycopg.Connection[Any]) -> None:
    now = datetime.now(UTC) + YEAR
    owner.execute(sql.SQL("CREATE TABLE {} ()").format(sql.Identifier(name_of(Month.of(now)))))
    owner.commit()

    with pytest.raises(months.NameTaken, match=f"{name_of(Month.of(now))} is there, and is no partition"):
        months.make(owner_url(database_url), now=now)


def test_only_the_owner_makes_months(database_url: str, administrator: psycopg.Connection[Any]) -> None:
    stranger = sql.Identifier(f"stranger_{os.getpid()}")
    administrator.execute(sql.SQL("CREATE ROLE {} LOGIN").format(stranger))
    try:
        url = sqlalchemy.make_url(database_url).set(username=f"stranger_{os.getpid()}")
        with pytest.raises(months.NotOwner, match="only the owner"):
            months.make(url.render_as_string(hide_password=False), now=datetime.now(UTC) + YEAR)
    finally:
        administrator.execute(sql.SQL("DROP ROLE {}").format(stranger))
