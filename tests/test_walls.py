"""The walls around the books, which the schema builds: who may change what is written."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Table

from jackpot_service.config import Config
from jackpot_service.connections import create_engine
from jackpot_service.db import Base
from tests.support import everything

UPDATABLE = {
    "stripes": {"seq", "head", "booked_at", "accepting", "rolled_up_to"}
    | {"meter_players", "meter_house", "reserve", "prize_fund"},
    "daily_bets": {"bets", "stakes_minor", "value"},
    "daily_postings": {"lines", "amount"},
    "daily_refunds": {"bets", "stakes_minor", "value", "meter", "reserve", "prize_fund", "house", "adjustments"},
    "daily_awards": {"awards", "amount_minor", "cost"},
    "daily_payments": {"awards", "amount_minor", "cost"},
    "daily_hands": {"hands", "value", "squares"},
    "rounds": {"state", "steps", "bet_count", "weight", "replays"},
    "keys": {"revoked_at", "last_used_at"},
    "jobs": {
        *("state", "chunks", "size", "position", "done", "total", "attempts", "began_at", "began_with", "heartbeat_at"),
        *("ended_at", "error", "cancelled_by", "removed_at", "holder", "lease_until"),
    },
}
"""The only columns that are ever changed; everything else is written once."""

REMOVABLE = {"job_chunks", "recent_bets"}
"""What is removed some day: files that were made of the books, and what is set aside until it is rolled up."""

TABLES = sorted(Base.metadata.tables)
APPEND_ONLY = sorted(set(TABLES) - set(UPDATABLE))
APPLICATION = "jackpot_app"


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the owner to a database with at least one row in each table."""
    engine = create_engine(Config(), database_url)
    try:
        everything.write(engine)
    finally:
        engine.dispose()
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        yield connection


@pytest.fixture
def application(owner: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Connect as the application's role does."""
    owner.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(APPLICATION)))
    owner.commit()
    return owner


def test_the_application_may_remove_what_is_removed_some_day(application: psycopg.Connection[Any]) -> None:
    for table in sorted(REMOVABLE):
        assert application.execute(f"DELETE FROM {table}").rowcount > 0  # noqa: S608  a constant
        application.rollback()


def _refused(connection: psycopg.Connection[Any], statement: str, *names: str, message: str) -> None:
    with pytest.raises(InsufficientPrivilege, match=message):
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
    connection.rollback()


def _columns(table: str) -> list[str]:
    found: Table = Base.metadata.tables[table]
    return [column.name for column in found.columns]


def test_the_application_may_neither_change_nor_delete_what_is_written_once(
    application: psycopg.Connection[Any],
) -> None:
    denied = "permission denied"
    for table in TABLES:
        if table not in REMOVABLE:
            _refused(application, "DELETE FROM {}", table, message=denied)
        _refused(application, "TRUNCATE {}", table, message=denied)
        for column in set(_columns(table)) - UPDATABLE.get(table, set()):
            _refused(application, "UPDATE {} SET {} = DEFAULT", table, column, message=denied)


def test_the_application_may_change_what_commits_change(application: psycopg.Connection[Any]) -> None:
    for table, columns in UPDATABLE.items():
        assert columns <= set(_columns(table))
        for column in columns:
            name = sql.Identifier(column)
            changing = sql.SQL("UPDATE {} SET {} = {}").format(sql.Identifier(table), name, name)
            assert application.execute(changing).rowcount > 0
            application.rollback()


def test_the_application_may_neither_build_nor_break_tables(application: psycopg.Connection[Any]) -> None:
    denied = "permission denied|must be owner"
    for statement in (
        "CREATE TABLE {} (id int)",
        "ALTER TABLE entries DISABLE TRIGGER ALL",
        "DROP TABLE entries",
        "DROP TRIGGER append_only ON entries",
        "SET session_replication_role = replica",
    ):
        _refused(application, statement, "built", message=denied)


def test_the_owner_is_refused_as_well(owner: psycopg.Connection[Any]) -> None:
    refused = "append-only|a file is not rewritten"
    for table in TABLES:
        count = owner.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table))).rowcount
        assert count > 0, f"nothing in {table} to try it on"
        if table not in REMOVABLE:
            _refused(owner, "DELETE FROM {}", table, message=refused)
        _refused(owner, "TRUNCATE {} CASCADE", table, message=refused)
    for table in APPEND_ONLY:
        for column in _columns(table):
            _refused(owner, "UPDATE {} SET {} = {}", table, column, column, message=refused)
