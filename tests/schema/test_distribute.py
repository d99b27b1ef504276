"""`jackpot db distribute` where there is no Citus: it says what it needs; and its steps, with stand-ins for Citus."""

from typing import Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine, create_owners_engine
from jackpot_service.database.tables import TABLES, Placement
from jackpot_service.schema import distribute as distribute_
from jackpot_service.schema import migrate
from jackpot_service.schema.distribute import NotDistributable, distribute
from tests.support import everything
from tests.support.logins import owner_url
from tests.support.reading import Books

COPYING: Final = """
CREATE FUNCTION copy_rows(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    stated text := current_setting('session_replication_role');
    is_sent_on boolean := current_setting('citus.propagate_set_commands', true) = 'local';
BEGIN
    EXECUTE 'CREATE TEMPORARY TABLE copied AS TABLE ' || name;
    PERFORM set_config('session_replication_role', 'replica', true);
    EXECUTE 'DELETE FROM ' || name;
    PERFORM set_config('session_replication_role', CASE WHEN is_sent_on THEN stated ELSE 'origin' END, true);
    EXECUTE 'INSERT INTO ' || name || ' TABLE copied';
    PERFORM set_config('session_replication_role', stated, true);
    DROP TABLE copied;
END $$;
CREATE FUNCTION create_reference_table(name text) RETURNS void LANGUAGE sql AS 'SELECT copy_rows(name)';
CREATE FUNCTION create_distributed_table(name text, by text, colocate_with text) RETURNS void LANGUAGE sql
AS 'SELECT copy_rows(name)';
"""
"""
What Citus does with the rows of a table that it places: inserts them anew, elsewhere.

What the session said of its triggers is said there too if Citus sends the settings of a transaction on.
"""

REMOVING: Final = """
CREATE FUNCTION truncate_local_data_after_distributing_table(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'TRUNCATE ' || name || ' CASCADE';
END $$
"""
"""What Citus does with the rows that are left on this machine; triggers of the append-only tables refuse it."""

REFERRING: Final = """
SELECT conrelid::regclass::text, conname FROM pg_constraint
WHERE contype = 'f' AND conrelid::regclass::text = ANY (:names)
"""


def test_tables_of_one_machine_stay_where_they_are(database_url: str) -> None:
    before = migrate.catalogue(owner_url(database_url))
    with pytest.raises(NotDistributable, match="CREATE EXTENSION citus"):
        distribute(owner_url(database_url))
    assert migrate.catalogue(owner_url(database_url)) == before


def test_a_schema_of_another_version_is_not_distributed(empty_database_url: str) -> None:
    with pytest.raises(NotDistributable, match="jackpot db upgrade"):
        distribute(empty_database_url)


def test_functions_of_rows_are_made_again_as_they_were(database_url: str) -> None:
    before = migrate.catalogue(owner_url(database_url))
    engine = create_owners_engine(owner_url(database_url), lock_timeout_ms=1000)
    with engine.begin() as session:
        functions = session.execute(distribute_._FUNCTIONS_OF_ROWS).all()
        for signature, _ in functions:
            session.exec_driver_sql(f"DROP FUNCTION {signature}")
        for _, definition in functions:
            session.exec_driver_sql(definition)

    assert len(functions) > 5
    assert migrate.catalogue(owner_url(database_url)) == before


def test_tables_are_placed_after_those_that_they_refer_to(database_url: str) -> None:
    engine = create_owners_engine(owner_url(database_url), lock_timeout_ms=1000)
    with engine.begin() as session:
        names = list(distribute_._in_order(session, Placement.REFERENCE))
        references = session.execute(distribute_._REFERENCES).all()

    assert set(names) == {name for name, table in TABLES.items() if table.placement is Placement.REFERENCE}
    assert any(table in names and named in names for table, named in references)
    for table, named in references:
        assert not {table, named} <= set(names) or names.index(named) < names.index(table)


def test_rows_that_are_there_are_copied_as_they_are(database_url: str) -> None:
    """Triggers would judge each as if it were new, and write an open award down again."""
    service = create_engine(Config(), database_url)
    everything.write(service)
    service.dispose()
    engine = create_owners_engine(owner_url(database_url), lock_timeout_ms=1000)
    books = Books(engine)
    placed = [name for name, table in TABLES.items() if table.placement is not Placement.LOCAL]
    before = {name: sorted(map(str, books.rows(f"TABLE {name}"))) for name in placed}
    with engine.begin() as session:
        session.exec_driver_sql(COPYING)
        distribute_._place(session, frozenset(placed))

    assert {name for name, rows in before.items() if not rows} <= {"emergency_switches"}
    assert {name: sorted(map(str, books.rows(f"TABLE {name}"))) for name in placed} == before


@pytest.fixture
def filled(database_url: str) -> sqlalchemy.Engine:
    """Books with everything, by the owner's login."""
    service = create_engine(Config(), database_url)
    everything.write(service)
    service.dispose()
    return create_owners_engine(owner_url(database_url), lock_timeout_ms=1000)


def test_rows_that_were_left_behind_are_removed_and_no_others(filled: sqlalchemy.Engine) -> None:
    books = Books(filled)
    before = {name: rows for name in TABLES if (rows := books.rows(f"TABLE {name}"))}
    stays = {name for name in before if TABLES[name].placement is Placement.LOCAL}
    with filled.begin() as session:
        session.exec_driver_sql(REMOVING)
        # Where Citus knows this machine, no row that stays refers to what it truncates.
        for table, constraint in session.execute(text(REFERRING), {"names": list(stays)}).all():
            session.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
        left = distribute_._left(session)
        distribute_._remove(session, left)

    assert set(left) == before.keys() - stays
    assert {"bets", "entries", "acts"} <= set(left)
    assert "keys" in stays
    assert not any(books.rows(f"TABLE {name}") for name in left)
    assert {name: books.rows(f"TABLE {name}") for name in stays} == {name: before[name] for name in stays}
    with filled.begin() as session:
        assert not distribute_._left(session)


def test_rows_that_stay_are_not_removed_with_those_to_which_they_refer(filled: sqlalchemy.Engine) -> None:
    books = Books(filled)
    before = {name: len(books.rows(f"TABLE {name}")) for name in TABLES}
    with filled.connect() as session:
        session.exec_driver_sql(REMOVING)
        left = distribute_._left(session)
        with pytest.raises(NotDistributable, match=r"Rows of .*keys.* refer"):
            distribute_._remove(session, left)
    assert {name: len(books.rows(f"TABLE {name}")) for name in TABLES} == before


def test_the_service_is_answered_in_english(database_url: str) -> None:
    """Where the machines speak another language, a deadlock of copied rows would be an error of the service."""
    owner = create_owners_engine(owner_url(database_url), lock_timeout_ms=1000)
    with owner.begin() as session:
        session.exec_driver_sql(f"ALTER DATABASE {session.engine.url.database} SET lc_messages = 'C.UTF-8'")
        distribute_._have_errors_in_english(session)
    service = create_engine(Config(), database_url)
    with service.connect() as session:
        assert session.exec_driver_sql("SHOW lc_messages").scalar_one() == "C"
    service.dispose()
