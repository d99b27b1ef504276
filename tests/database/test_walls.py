"""The walls around the books, which the schema and the service's login build: who may change what is written."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Table

from jackpot_service.config.settings import Config
from jackpot_service.database import tables
from jackpot_service.database.connections import create_engine
from jackpot_service.database.models import Base
from tests.support import everything
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.slow

UPDATABLE = {
    "stripes": {"seq", "head", "booked_at", "accepting", "summed_to", "limits_version"}
    | {"meter_players", "meter_house", "reserve", "prize_fund"},
    "days": {"number", "minor", "value"},
    "rounds": {"state", "steps", "bet_count", "weight", "replays", "game_number"},
    "exception_chain": {"number", "head"},
    "exception_counts": {"refusals"},
    "keys": {"revoked_at", "last_used_at"},
    "passkey_uses": {"sign_count", "used_at"},
    "browser_sessions": {"proof_passkey_id", "proved_at", "seen_at"},
    "jobs": {
        *("state", "chunks", "size", "position", "done", "total", "attempts", "began_at", "began_with", "heartbeat_at"),
        *("ended_at", "error", "cancelled_by", "removed_at", "holder", "lease_until"),
    },
}
"""The only columns that are ever changed; everything else is written once."""

REMOVABLE = {"browser_sessions", "job_chunks", "passkey_challenges"}
"""What is removed some day: sessions that have ended, challenges, and files that were made of the books."""

NO_BOOKS = {"browser_sessions", "open_awards", "passkey_challenges"}
"""Nothing is derived from these, so their owner may do with them what they like."""

TABLES = sorted(Base.metadata.tables)
APPEND_ONLY = sorted(set(TABLES) - set(UPDATABLE))


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    """Connect as the service does, to a database with at least one row in each table."""
    engine = create_engine(Config(), database_url)
    everything.write(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def owner(engine: sqlalchemy.Engine) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the same database as its owner."""
    with psycopg.connect(owner_conninfo(engine.url.render_as_string(hide_password=False))) as connection:
        yield connection


@pytest.fixture
def application(engine: sqlalchemy.Engine) -> Iterator[psycopg.Connection[Any]]:
    """Send any SQL by the very connection that the service makes."""
    with engine.connect() as session:
        connection = session.connection.driver_connection
        assert isinstance(connection, psycopg.Connection)
        yield connection


def test_the_table_of_rights_lists_every_table_and_view_once_and_no_other(database_url: str) -> None:
    with psycopg.connect(owner_conninfo(database_url)) as connection:
        rows = connection.execute(
            "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition"
            " AND relkind IN ('r', 'p', 'v', 'm', 'f')"
        ).fetchall()

    assert sorted([*tables.TABLES, *tables.VIEWS]) == sorted(name for (name,) in rows)


def test_the_application_may_remove_what_is_removed_some_day(application: psycopg.Connection[Any]) -> None:
    for table in sorted(REMOVABLE):
        assert application.execute(f"DELETE FROM {table}").rowcount > 0  # noqa: S608  a constant
        application.rollback()


def _refused(connection: psycopg.Connection[Any], statement: str, *names: str, message: str) -> None:
    try:
        with pytest.raises(InsufficientPrivilege, match=message):
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
    finally:
        connection.rollback()


def _columns(table: str) -> list[str]:
    table_: Table = Base.metadata.tables[table]
    return [column.name for column in table_.columns]


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


def test_the_number_of_exceptions_never_falls(application: psycopg.Connection[Any]) -> None:
    falling = "UPDATE {} SET number = number - 1"
    _refused(application, falling, "exception_chain", message="exception_chain is refused: the books are append-only")


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


BREAKING_OUT = (
    "SET ROLE postgres",
    "SELECT set_config('role', 'postgres', false)",
    "SET ROLE NONE; DELETE FROM entries",
    "RESET ROLE; DELETE FROM entries",
    "SET SESSION AUTHORIZATION postgres",
    "SET SESSION AUTHORIZATION DEFAULT; DELETE FROM entries",
    "RESET ALL; TRUNCATE entries",
    "GRANT pg_write_all_data TO jackpot_app",
    "GRANT postgres TO jackpot_app",
    "ALTER ROLE jackpot_app SUPERUSER",
    "ALTER ROLE jackpot_app CREATEROLE",
    "CREATE ROLE another LOGIN SUPERUSER",
    "CREATE DATABASE another",
    "ALTER TABLE entries OWNER TO jackpot_app",
    "ALTER TABLE entries DISABLE TRIGGER ALL",
    "DROP TRIGGER append_only ON entries",
    "CREATE TRIGGER another BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()",
    "CREATE OR REPLACE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
    "ALTER FUNCTION refuse_rewrite() RESET ALL",
    "SET session_replication_role = replica",
    "BEGIN; LOCK TABLE entries IN ACCESS EXCLUSIVE MODE",
    "DO 'BEGIN DELETE FROM entries; END'",
    "COPY entries TO PROGRAM 'true'",
    "COPY entries TO '/nowhere'",
    "SELECT pg_read_file('postgresql.conf')",
    "UPDATE pg_class SET relacl = NULL",
)
"""What somebody who sends SQL by the service's connection would try, to change what is written or to become another."""

HIDING = (
    "CREATE TEMP TABLE entries (id int)",
    "CREATE TABLE pg_temp.entries (id int)",
    "CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1'",
    "CREATE FUNCTION public.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1'",
    "CREATE TABLE public.pg_class (oid int)",
    "CREATE VIEW public.entries_too AS SELECT 1",
    "CREATE SCHEMA jackpot_app",
    "CREATE TYPE public.int4 AS ENUM ('a')",
)
"""The same who would have a name mean something else, for others or for triggers."""


def test_by_the_services_connection_nobody_becomes_another_or_changes_what_is_written(
    application: psycopg.Connection[Any], subtests: pytest.Subtests
) -> None:
    application.autocommit = True  # No database is made in a transaction.
    for statement in BREAKING_OUT:
        with subtests.test(statement):
            _refused(application, statement, message="permission denied|must be owner|Only roles with")


def test_by_the_services_connection_no_name_is_made_to_mean_something_else(
    application: psycopg.Connection[Any], subtests: pytest.Subtests
) -> None:
    for path in ("public, pg_temp", "pg_temp, public", "jackpot_app, pg_temp, public, pg_catalog"):
        for statement in HIDING:
            with subtests.test(f"{path}: {statement}"):
                application.execute(f"SET search_path = {path}")
                application.commit()
                _refused(application, statement, message="permission denied")


def test_a_session_of_the_service_is_its_own_login_and_looks_names_up_in_one_schema(
    application: psycopg.Connection[Any],
) -> None:
    row = application.execute("SELECT session_user, current_user, current_setting('search_path')").fetchone()

    assert row == ("jackpot_app", "jackpot_app", "public,pg_temp")


def test_every_function_of_a_trigger_looks_names_up_in_one_schema_whoever_fires_it(
    owner: psycopg.Connection[Any],
) -> None:
    rows = owner.execute(
        """
        SELECT DISTINCT proname, proconfig FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE NOT tgisinternal
        """
    ).fetchall()

    assert len(rows) > 1
    assert [name for name, settings in rows if settings != ["search_path=public, pg_temp"]] == []


def test_the_owner_is_refused_as_well(owner: psycopg.Connection[Any]) -> None:
    refused = "append-only|a file is not rewritten"
    for table in sorted(set(TABLES) - NO_BOOKS):
        count = owner.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table))).rowcount
        assert count > 0, f"nothing in {table} to try it on"
        if table not in REMOVABLE:
            _refused(owner, "DELETE FROM {}", table, message=refused)
        _refused(owner, "TRUNCATE {} CASCADE", table, message=refused)
    for table in sorted(set(APPEND_ONLY) - NO_BOOKS):
        for column in _columns(table):
            _refused(owner, "UPDATE {} SET {} = {}", table, column, column, message=refused)
