"""docs/warehouse.md: each of its statements, by the login that it names, between two clusters."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.cli import opening
from jackpot_service.database import embedded
from jackpot_service.schema import migrate, months
from tests.conftest import SETTINGS
from tests.replica.worlds import LONGEST_WAIT_S, play, wait_until
from tests.support.bets import bet
from tests.support.clock import let_tests_move_the_clock
from tests.support.pages import DOCS
from tests.support.world import World

pytestmark = pytest.mark.long

PAGE: Final = (DOCS / "warehouse.md").read_text(encoding="utf-8")
STATEMENTS: Final = [
    (match[1], match[2]) for match in re.finditer(r"^```sql ([a-z-]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]
"""Each block of the page, with the word that says who runs it."""

PLACE: Final = "host=10.0.0.11 dbname=jackpot"

OWNER: Final = "jackpot_owner"
DATABASE: Final = "ledger"


@dataclass
class Site:
    """A ledger's cluster and a warehouse's, and the statements of the page that were not run yet."""

    ledger: embedded.Cluster
    warehouse: embedded.Cluster

    def __post_init__(self) -> None:
        self.rest = iter(STATEMENTS)

    def at_ledger(self, statement: str, *, user: str = embedded.SUPERUSER) -> list[Any]:
        return run(self.ledger.conninfo(DATABASE), statement, user)

    def at_warehouse(self, statement: str) -> list[Any]:
        return run(self.warehouse.conninfo(embedded.DATABASE), statement, embedded.SUPERUSER)

    def next(self, *words: str) -> list[Any]:
        """Run the next blocks of the page, which must have these words; return the rows of the last."""
        rows: list[Any] = []
        for expected in words:
            word, statement = next(self.rest)
            assert word == expected
            if word in {"superuser", "owner", "watch", "ends-of-ledger", "drop-slot"}:
                rows = self.at_ledger(statement, user=OWNER if word == "owner" else embedded.SUPERUSER)
            else:
                place = f"host={self.ledger.socket_directory} port=5432 dbname={DATABASE}"
                rows = self.at_warehouse(statement.replace(PLACE, place))
        return rows

    def require_same(self, table: str, columns: str) -> None:
        """Wait until the warehouse has all rows of a table, and no others."""
        question = f"SELECT {columns} FROM {table} ORDER BY {columns}"  # noqa: S608  names of the test's own
        until = time.monotonic() + LONGEST_WAIT_S
        while (rows := self.at_warehouse(question)) != (expected := self.at_ledger(question)):
            assert time.monotonic() < until, (len(rows), len(expected))
            time.sleep(0.05)
        assert rows


def run(conninfo: str, statements: str, user: str) -> list[Any]:
    with psycopg.connect(conninfo, user=user, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in filter(str.strip, statements.split(";\n")):
            cursor.execute(statement)
        return [] if cursor.description is None else cursor.fetchall()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A ledger whose owner is no superuser, as production has it, and an empty warehouse."""
    with (
        embedded.running(tmp_path / "ledger", settings={**SETTINGS, "wal_level": "logical"}) as ledger,
        embedded.running(tmp_path / "warehouse", settings=SETTINGS) as warehouse,
    ):
        run(ledger.conninfo(), f"CREATE ROLE {OWNER} LOGIN CREATEROLE", embedded.SUPERUSER)
        run(ledger.conninfo(), f"CREATE DATABASE {DATABASE} OWNER {OWNER}", embedded.SUPERUSER)
        migrate.upgrade(ledger.url(DATABASE, user=OWNER))
        let_tests_move_the_clock(ledger.url(DATABASE))
        yield Site(ledger, warehouse)
        assert list(map(tuple, site_slots(ledger))) == []


def site_slots(ledger: embedded.Cluster) -> list[Any]:
    return run(ledger.conninfo(), "SELECT slot_name FROM pg_replication_slots", embedded.SUPERUSER)


@pytest.fixture
def world(site: Site) -> Iterator[World]:
    world = World(site.ledger.service_url(DATABASE))
    world.open(base_amount="1000")
    yield world
    world.close()


OF_ENTRIES: Final = (
    "jackpot_id, stripe_no, seq, kind, received_at, booked_at, casino_id, table_id, round_key, step, rules_version, "
    "accounts, currencies, amounts, movements"
)
OF_BETS: Final = "jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor, occurred_at"


def test_a_warehouse_follows_by_the_commands_of_the_page(site: Site, world: World) -> None:
    play(world, "copied")
    site.next("superuser", "owner", "warehouse")
    site.require_same("entries", OF_ENTRIES)
    play(world, "streamed", rounds=3)
    site.require_same("entries", OF_ENTRIES)
    assert site.next("check") == []
    assert site.next("ends-of-ledger") == site.next("ends-of-warehouse") != []
    assert (
        site.at_warehouse("SELECT currency, sum(amount) FROM postings GROUP BY currency HAVING sum(amount) <> 0") == []
    )
    assert len(site.at_warehouse("SELECT FROM postings")) == len(site.at_ledger("SELECT FROM postings"))

    site.next("owner", "warehouse")
    site.require_same("bets", OF_BETS)
    bet_in_a_month_that_is_added_now(site, world)
    site.require_same("bets", OF_BETS)
    site.require_same("entries", OF_ENTRIES)

    site.next("warehouse", "owner")
    play(world, "more")
    site.require_same("entries", OF_ENTRIES)
    site.require_same("bets", OF_BETS)
    after = "WHERE kind = 'result' AND booked_at > (SELECT max(booked_at) FROM entries WHERE facts IS NULL)"
    facts = f"SELECT facts FROM entries {after} ORDER BY booked_at"  # noqa: S608  of the test's own
    arrived = [facts for (facts,) in site.at_warehouse(facts)]
    assert arrived
    assert [row for (row,) in site.at_ledger("SELECT facts FROM entries ORDER BY booked_at DESC LIMIT 1")] == arrived[
        -1:
    ]

    require_that_a_pause_holds_wal_and_loses_nothing(site, world)
    require_that_it_begins_again(site, world)
    site.next("end")
    assert list(site.rest) == []


def bet_in_a_month_that_is_added_now(site: Site, world: World) -> None:
    """A bet of the third month from now, whose partition is made first."""
    later = datetime.now(UTC) + timedelta(days=70)
    made = months.make(site.ledger.url(DATABASE, user=OWNER), now=later)
    assert made.months
    world.clock.at = later
    world.bet(bet("later"), round_id="later")
    (partition,) = site.at_ledger("SELECT tableoid::regclass::text FROM bets WHERE bet_id = 'later'")[0]
    assert partition not in {"bets_before", "bets_default"}


def require_that_a_pause_holds_wal_and_loses_nothing(site: Site, world: World) -> None:
    held = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) FROM pg_replication_slots WHERE NOT active"
    ((slot, _, status, _),) = site.next("watch")
    assert (slot, status) == ("jackpot_warehouse", "reserved")
    site.next("pause")
    until = time.monotonic() + LONGEST_WAIT_S
    while not (before := site.at_ledger(held)):
        assert time.monotonic() < until, "the slot stays active"
        time.sleep(0.05)
    play(world, "paused", rounds=5)
    assert site.at_ledger(held)[0][0] > before[0][0]
    site.next("resume")
    site.require_same("entries", OF_ENTRIES)


def require_that_it_begins_again(site: Site, world: World) -> None:
    """Its slot is gone, as after a failover; entries were booked of which it has heard nothing."""
    site.at_warehouse("ALTER SUBSCRIPTION jackpot_warehouse DISABLE")
    slot = "SELECT FROM pg_replication_slots WHERE NOT active"
    wait_until(lambda: len(site.at_ledger(slot)) == 1)
    site.at_ledger("SELECT pg_drop_replication_slot('jackpot_warehouse')")
    play(world, "unheard")
    with pytest.raises(psycopg.Error):
        site.at_warehouse("DROP SUBSCRIPTION jackpot_warehouse")
    site.next("forget", "drop-slot", "begin-again")
    site.require_same("entries", OF_ENTRIES)
    site.require_same("bets", OF_BETS)
    play(world, "again")
    site.require_same("entries", OF_ENTRIES)


def test_the_warehouses_login_reads_what_is_published_and_writes_nothing(site: Site, world: World) -> None:
    site.next("superuser", "owner", "warehouse")
    play(world)
    site.require_same("entries", OF_ENTRIES)
    refused = ["SELECT principal FROM entries", "SELECT FROM bets", "SELECT FROM keys", "DELETE FROM entries"]
    for statement in refused:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            site.at_ledger(statement, user="jackpot_warehouse")
    opening.require_ready(site.ledger.service_url(DATABASE))  # The service starts next to it.
    migrate.upgrade(site.ledger.url(DATABASE, user=OWNER))
    site.at_warehouse("DROP SUBSCRIPTION jackpot_warehouse")
