"""
Each setting of the planner that all connections of the service have is needed: without it a hot statement goes wrong.

A setting whose test passes without it is to be taken away. `tests/distribution/test_plan_settings.py` has the list.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.records import bets, rounds, settings_in_force, verdicts
from tests.records.kept_plans import executed, prepared
from tests.support.drivers import connection_of
from tests.support.logins import owner_conninfo

ASKED: Final = {"jackpot_id": "live", "table_ids": "T1", "round_ids": "r1"}
ENTRIES: Final = 3000

ADD_ENTRIES: Final = """
INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at, digest,
                     head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures)
SELECT 'live', 0, number, 'result', 'p', number, 1, now(), now(), sha256(''), sha256(''), '{}', '{}', '{}', '{}',
       'c1', 'T1', 1, '{}'
FROM generate_series(1, %(entries)s) AS number
"""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


PLANNED: Final = 12
"""More executions than the five for which PostgreSQL always plans anew before it compares the costs."""


def planned_anew(engine: Engine, statement: str, parameters: Mapping[str, Any], *, mode: str | None = None) -> int:
    """Count the plans that are made for some executions of a prepared statement, besides the one that is kept."""
    with engine.connect() as session:
        session.begin()
        connection = connection_of(session)
        if mode is not None:
            connection.execute(f"SET LOCAL plan_cache_mode = {mode}".encode())
        names = {prepared(session, statement, parameters) for _ in range(PLANNED)}
        ((count,),) = connection.execute(
            "SELECT custom_plans FROM pg_prepared_statements WHERE name = ANY (%s)", [[*names]]
        ).fetchall()
        return int(count)


# The planner takes a text of joined values for ten. Where it is one, a plan of its own seems to be cheaper for ever.
WOULD_BE_PLANNED_ANEW: Final = (
    (rounds._LOCK, ASKED),
    (bets._OF_ROUND, ASKED),
    (settings_in_force._READ, {**ASKED, "came": "2026-01-01"}),
)


@pytest.mark.parametrize(("statement", "parameters"), WOULD_BE_PLANNED_ANEW)
def test_a_hot_statement_is_planned_once_and_would_be_planned_each_time(
    engine: Engine, statement: str, parameters: Mapping[str, Any]
) -> None:
    """This is why the service's connections have a `plan_cache_mode`: see docs/decisions/hot-statements.md."""
    values = {**parameters, "table_ids": "T1", "round_ids": "r1"}

    assert planned_anew(engine, statement, values) == 0
    assert planned_anew(engine, statement, values, mode="auto") == PLANNED


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("off", "using uq_entries_jackpot_id_round_key_step"), ("on", f"Rows Removed by Filter: {ENTRIES - 1}")],
)
def test_a_plan_that_is_kept_from_empty_tables_looks_its_row_up_and_would_read_all(
    engine: Engine, database_url: str, setting: str, expected: str
) -> None:
    """This is why `enable_seqscan` is off. Tables are analysed while they are empty, such as before a proof."""
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        owner.execute("ANALYZE")
    parameters = {"jackpot_id": "live", "round_key": 1}
    with engine.connect() as session:
        session.begin()
        connection = connection_of(session)
        connection.execute(f"SET LOCAL enable_seqscan = {setting}".encode())
        prepared(session, verdicts._ENDING, parameters)
        connection.execute(ADD_ENTRIES, {"entries": ENTRIES})

        done = "\n".join(executed(session, verdicts._ENDING, parameters))

    assert expected in done, done
