"""`jackpot db distribute` where there is no Citus: it says what it needs, and changes nothing."""

import pytest

from jackpot_service.database.connections import create_owners_engine
from jackpot_service.database.tables import TABLES, Placement
from jackpot_service.schema import distribute as distribute_
from jackpot_service.schema import migrate
from jackpot_service.schema.distribute import NotDistributable, distribute
from tests.support.logins import owner_url


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
