"""
Which settings of the planner the service has for all of its connections: those of one machine are not another's.

Tables that are distributed are planned on each machine by itself, without what a connection to one of them said. So a
setting that stands here is one to do without by then, and none may join it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Engine, text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from tests.support.logins import owner_conninfo

STATED: Final[Mapping[str, str]] = {
    # Without it three statements of each bet and result are planned at every call: four times what they cost.
    "plan_cache_mode": "force_generic_plan",
    # Without it a plan that is made and kept while tables are empty reads them whole.
    "enable_seqscan": "off",
}
"""Each with the reason that tests/records/test_planner_settings.py shows."""

_CHANGED: Final = text(
    "SELECT name, setting FROM pg_settings WHERE category LIKE 'Query Tuning%' AND setting IS DISTINCT FROM boot_val"
)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def settings(engine: Engine) -> Mapping[str, str]:
    with engine.connect() as session:
        return dict(map(tuple, session.execute(_CHANGED)))


def test_no_more_settings_of_the_planner_are_stated_than_these(engine: Engine) -> None:
    assert settings(engine) == STATED


@pytest.mark.parametrize("changing", ["ALTER DATABASE {}", "ALTER ROLE jackpot_app IN DATABASE {}"])
def test_one_that_the_database_or_the_role_has_is_found_too(engine: Engine, database_url: str, changing: str) -> None:
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        database = sql.Identifier(owner.info.dbname)
        owner.execute(sql.SQL(changing + " SET enable_sort = off").format(database))

    assert settings(engine) == {**STATED, "enable_sort": "off"}
