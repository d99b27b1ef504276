"""Books that are there are partitioned and put together again without a bet lost or changed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy

from jackpot_service.domain.months import Month
from jackpot_service.domain.round_keys import keys_of
from jackpot_service.schema import migrate, months
from tests.support.bets import bet
from tests.support.clock import let_tests_move_the_clock
from tests.support.house import House
from tests.support.logins import owner_conninfo, owner_url

BEFORE: Final = "0013-1"
TABLES: Final = "SELECT relname::text, relkind::text FROM pg_class WHERE relname ~ '^bets' AND relkind IN ('r', 'p')"
CHECKS: Final = "SELECT conname::text FROM pg_constraint WHERE conrelid = 'bets'::regclass AND contype = 'c'"
FIRST_BOUND: Final = "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'bets_before'"


def ask(url: str, question: str) -> Sequence[tuple[Any, ...]]:
    with psycopg.connect(owner_conninfo(url)) as owner:
        return owner.execute(question).fetchall()


def bets(url: str) -> Sequence[tuple[Any, ...]]:
    return ask(url, "SELECT * FROM bets ORDER BY round_key, bet_id")


def test_bets_of_all_partitions_come_together_again_and_are_parted_again(house: House, database_url: str) -> None:
    house.open()
    house.bet(bet("b1"), bet("b2"), round_id="r1")
    house.clock.at = Month.of(datetime.now(UTC)).later(2).begins_at
    house.bet(bet("b1"), round_id="r2")
    house.clock.at += timedelta(days=365)
    house.bet(bet("b1", occurred_at="2026-11-20T09:00:00Z"), round_id="r3")
    found = bets(database_url)
    assert len(found) == 4

    migrate.downgrade(owner_url(database_url), BEFORE)
    assert ask(database_url, TABLES) == [("bets", "r")]
    assert bets(database_url) == found

    migrate.upgrade(owner_url(database_url))
    assert set(ask(database_url, TABLES)) == {("bets", "p"), ("bets_before", "r"), ("bets_default", "r")}
    assert bets(database_url) == found
    # What came so far is in no later month's way: the first partition ends with the latest bet's month.
    end = keys_of(Month.of(house.clock.at)).end
    assert ask(database_url, FIRST_BOUND) == [(f"FOR VALUES FROM (MINVALUE) TO ('{end}')",)]
    assert ask(database_url, CHECKS) == [("ck_bets_stake_minor",)]
    let_tests_move_the_clock(database_url)
    assert months.make(owner_url(database_url), now=house.clock.at, ahead=1).months == [
        Month.of(house.clock.at).later(1)
    ]
    house.bet(bet("b3"), round_id="r1")


def test_without_bets_the_first_partition_ends_with_a_month_that_is_not_about_to_end(database_url: str) -> None:
    end = keys_of(Month.of(datetime.now(UTC) + timedelta(days=1))).end

    assert ask(database_url, FIRST_BOUND) == [(f"FOR VALUES FROM (MINVALUE) TO ('{end}')",)]


def test_a_swap_that_fails_leaves_no_bound_behind(database_url: str) -> None:
    migrate.downgrade(owner_url(database_url), BEFORE)
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("CREATE TABLE bets_default ()")

    with pytest.raises(sqlalchemy.exc.ProgrammingError, match="already exists"):
        migrate.upgrade(owner_url(database_url))

    assert ask(database_url, CHECKS) == [("ck_bets_stake_minor",)]
    assert ask(database_url, TABLES) == [("bets", "r"), ("bets_default", "r")]
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("DROP TABLE bets_default")
    migrate.upgrade(owner_url(database_url))
    assert len(ask(database_url, TABLES)) == 3
