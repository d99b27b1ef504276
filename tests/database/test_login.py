"""The check of the service's login, and the table of rights that it is made of: each excess is named and refused."""

import re
from collections.abc import Iterator

import pytest
import sqlalchemy
from sqlalchemy import NullPool

from jackpot_service.database import login, role
from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.login import LoginTooStrong
from jackpot_service.database.models import Base
from jackpot_service.database.role import RightsNotMade
from jackpot_service.database.tables import RIGHTS, TABLES, VIEWS, Right
from jackpot_service.database.transactions import Session
from jackpot_service.schema import migrate
from tests.support.logins import owner_url, service_url

pytestmark = pytest.mark.slow

EVERYBODYS = {Right("DATABASE", "current", "CONNECT"), Right("SCHEMA", "public", "USAGE")}

ATTRIBUTES = {
    "ALTER ROLE jackpot_app SUPERUSER": "it has SUPERUSER (ALTER ROLE jackpot_app NOSUPERUSER)",
    "ALTER ROLE jackpot_app CREATEROLE": "it has CREATEROLE (ALTER ROLE jackpot_app NOCREATEROLE)",
    "ALTER ROLE jackpot_app CREATEDB": "it has CREATEDB (",
    "ALTER ROLE jackpot_app REPLICATION": "it has REPLICATION (",
    "ALTER ROLE jackpot_app BYPASSRLS": "it has BYPASSRLS (",
    "ALTER ROLE jackpot_app INHERIT": "it has INHERIT (",
}
SETTINGS = {
    "ALTER ROLE jackpot_app SET session_replication_role = replica": (
        "no trigger fires for it (ALTER ROLE jackpot_app RESET session_replication_role)"
    ),
    "ALTER DATABASE {database} SET session_replication_role = replica": (
        "no trigger fires for it (ALTER ROLE ALL IN DATABASE"
    ),
    "ALTER ROLE jackpot_app IN DATABASE {database} SET session_replication_role = local": (
        "no trigger fires for it (ALTER ROLE jackpot_app IN DATABASE"
    ),
}
BELONGINGS = {
    "GRANT pg_write_all_data TO jackpot_app": "it is a member of pg_write_all_data (REVOKE pg_write_all_data FROM",
    "GRANT pg_monitor TO jackpot_app": "it is a member of pg_monitor (",
    "CREATE ROLE mine; GRANT mine TO jackpot_app WITH ADMIN OPTION": "it is a member of mine (",
    "ALTER DATABASE {database} OWNER TO jackpot_app": "it owns database ",
    "ALTER SCHEMA public OWNER TO jackpot_app": "it owns schema public (REASSIGN OWNED BY jackpot_app",
    "ALTER TABLE rates OWNER TO jackpot_app": "it owns table rates (",
    "ALTER VIEW postings OWNER TO jackpot_app": "it owns view postings (",
    "ALTER FUNCTION refuse_rewrite() OWNER TO jackpot_app": "it owns function refuse_rewrite() (",
    "ALTER TYPE figure OWNER TO jackpot_app": "it owns type figure (",
}
PRIVILEGES = {
    "GRANT CREATE ON SCHEMA public TO jackpot_app": "it has CREATE on schema public (run: jackpot db upgrade)",
    "GRANT CREATE ON SCHEMA public TO PUBLIC": "it has CREATE on schema public (",
    "CREATE SCHEMA mine; GRANT CREATE ON SCHEMA mine TO PUBLIC": "it has CREATE on schema mine (",
    "GRANT TEMPORARY ON DATABASE {database} TO jackpot_app": "it has TEMPORARY on the database (",
    "GRANT TEMPORARY ON DATABASE {database} TO PUBLIC": "it has TEMPORARY on the database (",
    "GRANT CREATE ON DATABASE {database} TO jackpot_app": "it has CREATE on the database (",
    "GRANT CONNECT ON DATABASE {database} TO jackpot_app WITH GRANT OPTION": "it has GRANT OPTION FOR CONNECT on",
    "GRANT SET ON PARAMETER session_replication_role TO jackpot_app": "it has rights on parameter session_replication",
    "GRANT SET ON PARAMETER session_replication_role TO PUBLIC": "everybody may set session_replication_role (",
    "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO jackpot_app": "it has rights on function pg_read_file(text) (",
    """
    CREATE FUNCTION do_it() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM entries'
    """: "it may run do_it() by its owner's rights (",
}
ON_TABLES = {
    "GRANT UPDATE ON entries TO jackpot_app": "it has UPDATE on table entries (run: jackpot db upgrade)",
    "GRANT UPDATE ON rounds TO jackpot_app": "it has UPDATE on table rounds (",
    "GRANT UPDATE (stake_minor) ON bets TO jackpot_app": "it has UPDATE (stake_minor) on table bets (",
    "GRANT UPDATE (seq) ON entries TO PUBLIC": "it has UPDATE (seq) on table entries (",
    "GRANT DELETE ON entries TO PUBLIC": "it has DELETE on table entries (",
    "GRANT TRUNCATE ON days TO jackpot_app": "it has TRUNCATE on table days (",
    "GRANT TRIGGER ON entries TO jackpot_app": "it has TRIGGER on table entries (",
    "GRANT REFERENCES ON entries TO jackpot_app": "it has REFERENCES on table entries (",
    "GRANT INSERT ON alembic_version TO jackpot_app": "it has INSERT on table alembic_version (",
    "GRANT INSERT ON postings TO jackpot_app": "it has INSERT on table postings (",
    "GRANT INSERT ON bets_default TO jackpot_app": "it has INSERT on table bets_default (",
    "GRANT SELECT ON rates TO jackpot_app WITH GRANT OPTION": "it has GRANT OPTION FOR SELECT on table rates (",
    "GRANT UPDATE ON verifications_number_seq TO jackpot_app": "it has UPDATE on table verifications_number_seq (",
    "CREATE SCHEMA mine; CREATE TABLE mine.t (); GRANT INSERT ON mine.t TO PUBLIC": "it has INSERT on table mine.t (",
    "GRANT UPDATE ON pg_class TO jackpot_app": "it has UPDATE on table pg_catalog.pg_class (",
}


@pytest.fixture
def owner(database_url: str) -> Iterator[Session]:
    """Open the owner's session, whose changes, also those of the whole cluster, are rolled back."""
    with sqlalchemy.create_engine(owner_url(database_url), poolclass=NullPool).connect() as session:
        yield session


def as_service(owner: Session) -> Session:
    """Have the rest of a transaction be the service's, as if it had logged in."""
    owner.exec_driver_sql("SET LOCAL SESSION AUTHORIZATION jackpot_app")
    return owner


def test_the_login_as_migrations_leave_it_is_taken(owner: Session) -> None:
    session = as_service(owner)

    login.require_own_login(session)
    held = login.rights(session)
    login.require_walls(session, held)
    login.require_listed_rights(held)
    assert login.lacking(session, held) == frozenset()


@pytest.mark.parametrize("statement", [*ATTRIBUTES, *SETTINGS, *BELONGINGS, *PRIVILEGES])
def test_a_login_that_could_do_more_is_refused_and_the_line_says_what_ends_it(owner: Session, statement: str) -> None:
    database = owner.scalar(sqlalchemy.text("SELECT current_database()"))
    owner.exec_driver_sql(statement.format(database=database))

    with pytest.raises(
        LoginTooStrong, match=re.escape((ATTRIBUTES | SETTINGS | BELONGINGS | PRIVILEGES)[statement])
    ) as refused:
        login.require_walls(as_service(owner), login.rights(owner))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("statement", ON_TABLES)
def test_a_right_on_a_table_that_is_not_listed_is_refused(owner: Session, statement: str) -> None:
    owner.exec_driver_sql(statement)

    with pytest.raises(LoginTooStrong, match=re.escape(ON_TABLES[statement])):
        login.require_listed_rights(login.rights(as_service(owner)))


def test_what_everybody_may_and_the_service_may_anyway_is_no_excess(owner: Session) -> None:
    owner.exec_driver_sql("GRANT SELECT ON entries TO PUBLIC; GRANT SELECT (seq) ON stripes TO jackpot_app")

    login.require_listed_rights(login.rights(as_service(owner)))


def test_another_login_is_refused_whatever_it_may(owner: Session) -> None:
    with pytest.raises(LoginTooStrong, match=r"logs in as postgres, .* name jackpot_app in JACKPOT_DATABASE_URL"):
        login.require_own_login(owner)
    owner.exec_driver_sql("SET ROLE jackpot_app")
    with pytest.raises(LoginTooStrong, match="logs in as postgres"):
        login.require_own_login(owner)


def test_many_excesses_are_one_line_that_says_how_many_more(owner: Session) -> None:
    owner.exec_driver_sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO jackpot_app")

    with pytest.raises(LoginTooStrong, match=r"; and [0-9]+ more$"):
        login.require_listed_rights(login.rights(as_service(owner)))


def test_the_table_of_rights_has_every_table_and_its_columns() -> None:
    assert not set(VIEWS) & set(TABLES)
    only_read = {*VIEWS, *(name for name, table in TABLES.items() if not table.insert)}
    assert set(Base.metadata.tables) - only_read == set(TABLES) - only_read
    for name, table in TABLES.items():
        assert not table.update or table.update <= set(Base.metadata.tables[name].columns.keys()), name


def test_migrating_gives_the_rights_of_the_table_no_more_and_no_less(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)

    with sqlalchemy.create_engine(empty_database_url, poolclass=NullPool).connect() as owner:
        rights = login.rights(owner)
        assert sorted(rights.own - RIGHTS) == []
        assert sorted(RIGHTS - rights.own) == []
        assert rights.everybodys == EVERYBODYS


def test_rights_that_went_wrong_are_made_again_and_a_second_time_nothing_is_written(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_owners_engine(empty_database_url, lock_timeout_ms=0)
    with engine.begin() as owner:
        owner.exec_driver_sql(
            f"""
            GRANT UPDATE ON rounds, entries TO jackpot_app;
            REVOKE UPDATE (state) ON rounds FROM jackpot_app;
            REVOKE SELECT, INSERT ON awards FROM jackpot_app;
            GRANT DELETE ON entries TO PUBLIC;
            GRANT SELECT ON rates TO jackpot_app WITH GRANT OPTION;
            GRANT CREATE ON SCHEMA public TO PUBLIC;
            GRANT TEMPORARY ON DATABASE {engine.url.database} TO PUBLIC;
            ALTER DATABASE {engine.url.database} RESET search_path
            """
        )

    role.make_rights(engine)

    with engine.connect() as owner:
        assert login.rights(owner).own == RIGHTS
        assert login.rights(owner).everybodys == EVERYBODYS
    made = written(engine)
    migrate.upgrade(empty_database_url)
    assert written(engine) == made


def test_an_upgrade_that_cannot_end_an_excess_says_so(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_owners_engine(empty_database_url, lock_timeout_ms=0)
    with engine.begin() as owner:
        owner.exec_driver_sql("ALTER VIEW postings OWNER TO jackpot_app")

    with pytest.raises(RightsNotMade, match="it owns view postings"):
        role.make_rights(engine)


def test_tables_that_nobody_has_looked_through_are_analysed_once_they_are_no_longer_small(
    empty_database_url: str,
) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_owners_engine(empty_database_url, lock_timeout_ms=0)
    with engine.begin() as owner:
        owner.exec_driver_sql("INSERT INTO jackpots SELECT 'j' || n, 'EUR' FROM generate_series(1, 5000) AS n")
        owner.exec_driver_sql("INSERT INTO casinos VALUES ('c1', 'Casino', 1, 'UTC', '06:00')")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as owner:
        owner.exec_driver_sql("VACUUM jackpots")  # It counts the rows, as the making of indexes in a restore does.
    assert analysed(engine) == set()

    migrate.upgrade(empty_database_url)

    assert analysed(engine) == {"jackpots"}


def test_a_partition_whose_statistics_the_service_may_not_see_is_not_called_without_them(
    empty_database_url: str,
) -> None:
    migrate.upgrade(empty_database_url)
    with create_owners_engine(empty_database_url, lock_timeout_ms=0).begin() as owner:
        owner.exec_driver_sql("SET session_replication_role = replica")
        owner.exec_driver_sql(
            "INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor)"
            " SELECT 'j1', 1, 'bet' || n, 1, 'p1', '1', 'EUR', 100 FROM generate_series(1, 5000) AS n"
        )
        owner.exec_driver_sql("ANALYZE bets")
    service = sqlalchemy.create_engine(service_url(empty_database_url), poolclass=NullPool)

    assert role.analyse(service) == ()


def analysed(engine: sqlalchemy.Engine) -> set[str]:
    """The tables of whose columns the planner has statistics."""
    with engine.connect() as session:
        return set(session.exec_driver_sql("SELECT tablename FROM pg_stats WHERE schemaname = 'public'").scalars())


def written(engine: sqlalchemy.Engine) -> list[tuple[object, ...]]:
    """The transactions that have last written what rights are kept in."""
    questions = (
        "SELECT 'class', oid::int8, xmin::text FROM pg_class WHERE relnamespace = 'public'::regnamespace",
        "SELECT 'column', attrelid::int8 * 10000 + attnum, xmin::text FROM pg_attribute WHERE attrelid >= 16384",
        "SELECT 'schema', oid::int8, xmin::text FROM pg_namespace",
        "SELECT 'database', oid::int8, xmin::text FROM pg_database WHERE datname = current_database()",
        """
        SELECT 'setting', setdatabase::int8, xmin::text FROM pg_db_role_setting
        WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
        """,
        "SELECT 'role', oid::int8, xmin::text FROM pg_authid WHERE rolname = 'jackpot_app'",
    )
    with engine.connect() as session:
        return sorted(tuple(row) for question in questions for row in session.exec_driver_sql(question))
