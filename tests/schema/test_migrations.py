"""The schema's way up, down and up again, and that it is what the catalogue and the tables of statements say."""

import re
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.script import ScriptDirectory

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.schema import migrate
from tests.support import everything
from tests.support.logins import service_url

pytestmark = pytest.mark.slow

GRANTED = "granted"


def test_revisions_import_nothing_of_the_application() -> None:
    files = sorted(migrate.SCRIPTS.rglob("*.py"))
    imported = {name for file in files for name in re.findall(r"(?m)^\s*(?:import|from) (\w+)", file.read_text())}
    assert len(files) > 1
    assert "sqlalchemy" in imported
    assert "jackpot_service" not in imported


def test_the_schema_goes_up_down_and_up_again(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    first = _catalogue(empty_database_url)
    assert first

    migrate.downgrade(empty_database_url, "base")
    assert [row for row in _catalogue(empty_database_url) if row[0] != "alembic_version"] == []

    migrate.upgrade(empty_database_url)
    assert _catalogue(empty_database_url) == first


def test_each_revision_can_be_taken_back_by_itself(empty_database_url: str) -> None:
    revisions = [script.revision for script in ScriptDirectory(str(migrate.SCRIPTS)).walk_revisions()]
    schemas = {}
    for revision in reversed(revisions):
        migrate.upgrade(empty_database_url, revision)
        schemas[revision] = _structure(empty_database_url)
    for revision in revisions[1:]:
        migrate.downgrade(empty_database_url, "-1")
        assert _structure(empty_database_url) == schemas[revision]


def test_the_migrated_schema_is_that_of_the_catalogue_and_of_statements(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    assert migrate.differences(empty_database_url) == []


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX ix_rounds_open",
        "ALTER TABLE rates DROP CONSTRAINT ck_rates_rate",
        "ALTER TABLE rates DROP CONSTRAINT fk_rates_base_number_rate_sheets",
        "ALTER TABLE acts ALTER COLUMN reason SET NOT NULL",
        "ALTER TABLE acts ADD COLUMN note text",
        "ALTER TABLE stripes ALTER COLUMN summed_to SET DEFAULT 1",
        "ALTER TABLE rounds RESET (fillfactor)",
        "ALTER TABLE entries DISABLE TRIGGER append_only",
        "ALTER FUNCTION by_index(text) COST 1",
        "CREATE TABLE notes (note text)",
        "DROP TABLE job_chunks",
    ],
)
def test_a_schema_that_differs_is_found(empty_database_url: str, statement: str) -> None:
    migrate.upgrade(empty_database_url)
    with psycopg.connect(_plain(empty_database_url)) as connection:
        connection.execute(statement)
    assert migrate.differences(empty_database_url)


def test_a_database_knows_whether_it_is_current(empty_database_url: str) -> None:
    engine = sqlalchemy.create_engine(empty_database_url, poolclass=sqlalchemy.NullPool)
    assert not migrate.is_current(engine)
    migrate.upgrade(empty_database_url, "0001")
    assert not migrate.is_current(engine)
    migrate.upgrade(empty_database_url)
    assert migrate.is_current(engine)


def test_books_go_down_whatever_they_hold(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    everything.play(engine, now=datetime.now(UTC))
    engine.dispose()

    migrate.downgrade(empty_database_url, "base")

    assert [row for row in _catalogue(empty_database_url) if row[0] != "alembic_version"] == []


def _structure(url: str) -> list[tuple[Any, ...]]:
    """List all but the grants, which are made after the last revision."""
    return [row for row in _catalogue(url) if row[1] != GRANTED]


def _catalogue(url: str) -> list[tuple[Any, ...]]:
    """List every relation, column, constraint, index, trigger, function and grant of the database."""
    questions = (
        "SELECT relname, relkind::text, reloptions::text FROM pg_class WHERE relnamespace = {0}",
        f"SELECT relname, '{GRANTED}', relacl::text FROM pg_class WHERE relnamespace = {{0}}",  # noqa: S608  ours
        f"""
        SELECT c.relname, '{GRANTED}', a.attname, a.attacl::text
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = {{0}} AND a.attnum > 0 AND NOT a.attisdropped
        """,  # noqa: S608  ours
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = {0} AND a.attnum > 0 AND NOT a.attisdropped
        """,
        """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = {0}
        """,
        "SELECT tablename::text, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        """
        SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(t.oid)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {0} AND NOT tgisinternal
        """,
        "SELECT proname, prosrc, proconfig::text FROM pg_proc WHERE pronamespace = {0}",
        "SELECT viewname::text, definition FROM pg_views WHERE schemaname = 'public'",
    )
    with psycopg.connect(_plain(url)) as connection:
        rows = [
            tuple(row)
            for question in questions
            for row in connection.execute(question.format("'public'::regnamespace"))
        ]
    return sorted((row for row in rows if "alembic_version" not in str(row[0])), key=str)


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")
