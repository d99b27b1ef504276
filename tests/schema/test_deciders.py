"""The database's table of who decides learns the kinds of change from the code."""

import psycopg

from jackpot_service.schema import migrate
from tests.support.logins import owner_conninfo


def _found(url: str) -> set[tuple[str, str]]:
    with psycopg.connect(owner_conninfo(url)) as owner:
        return {(kind, role) for kind, role in owner.execute("SELECT kind, role FROM change_deciders")}


def test_a_new_kind_is_added_once_and_what_was_there_stays(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    before = _found(empty_database_url)

    for _ in range(2):
        migrate.add_deciders(empty_database_url, {"new-kind": ["operator", "rates"]})

    assert _found(empty_database_url) == before | {("new-kind", "operator"), ("new-kind", "rates")}


def test_on_an_older_schema_nothing_is_added(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    migrate.downgrade(empty_database_url, "-1")
    before = _found(empty_database_url)

    migrate.add_deciders(empty_database_url, {"new-kind": ["operator"]})

    assert _found(empty_database_url) == before
