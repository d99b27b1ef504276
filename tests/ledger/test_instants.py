"""Positions at an instant are found by some twenty looks at a million entries, whatever the planner knows of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import read
from jackpot_service.ledger import instants
from tests.support.world import World

pytestmark = pytest.mark.slow

MILLION = 1_000_000
BEGIN = datetime(2026, 11, 21, tzinfo=UTC)

# Three of them at each millisecond.
ENTRIES = """
INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at,
                     digest, head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version,
                     figures)
SELECT 'j1', 1, number, 'test', 'p', NULL, NULL, at, at, head.of, head.of, '{}', '{}', '{}', '{}', '', '', 0, '{}'
FROM (SELECT sha256('') AS of) AS head
CROSS JOIN generate_series(1, :million) AS number
CROSS JOIN LATERAL (SELECT CAST(:begin AS timestamptz) + number / 3 * interval '1 ms' AS at OFFSET 0) AS booked
"""

END = """
UPDATE stripes
SET seq = :million, booked_at = (SELECT booked_at FROM entries WHERE stripe_no = 1 AND seq = :million)
WHERE jackpot_id = 'j1' AND stripe_no = 1
"""


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    """A jackpot of three stripes, one of which has a million entries that nobody has analysed."""
    world = World(database_url)
    world.open(stripes=3)
    world.close()
    owner = sqlalchemy.create_engine(database_url)
    with owner.begin() as writing:
        for statement in (ENTRIES, END):
            writing.execute(text(statement), {"million": MILLION, "begin": BEGIN})
    owner.dispose()
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def looks(plan: dict[str, Any]) -> int:
    """How often a plan looked into the entries."""
    own = plan["Actual Loops"] if plan.get("Relation Name") == "entries" else 0
    return int(own) + sum(looks(part) for part in plan.get("Plans", []))


def test_positions_in_a_million_entries_are_right_and_found_by_halving(engine: sqlalchemy.Engine) -> None:
    for milliseconds in (0, 1, 2, 77_777, 333_333, 333_334, 10**9):
        at = BEGIN + timedelta(milliseconds=milliseconds)
        before = min(MILLION, max(0, 3 * milliseconds - 1))
        parameters = {"book": "j1", "instant": at}

        assert read(engine, lambda session, at=at: instants.before(session, "j1", at)) == (1, before, 0)  # type: ignore[misc]
        with snapshot(engine) as session:
            assert instants.at(session, "j1", at) == (1, before, 0)
            explained = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {instants._BEFORE.text}")
            (plan,) = session.execute(explained, parameters).scalar_one()
            assert 0 < looks(plan["Plan"]) <= MILLION.bit_length() + 1
