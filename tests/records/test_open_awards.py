"""Open awards: what there is to do is found by indexes of it, however many awards were ever made."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import read
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import awards, open_awards
from jackpot_service.records.award_filters import AwardFilters, Position
from tests.support.logins import owner_conninfo

NOW: Final = datetime(2026, 11, 20, tzinfo=UTC)
AUDITOR: Final = Principal("Zoe", Role.AUDITOR)
FILL: Final = """
INSERT INTO casino_claims VALUES ('c1', 1, 90, 'statutory', 1);
INSERT INTO open_awards
SELECT 'live', number, 'b' || number, 'flush', 0, 'aw_' || number, 'c1', 'EUR',
       CASE number % 5000 WHEN 0 THEN 'held' WHEN 1 THEN 'stopped' ELSE 'payable' END,
       timestamptz '2026-11-20' - number * interval '1 minute', 100, 0
FROM generate_series(1, 20000) AS number;
ANALYZE open_awards;
"""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """Connect to a database with many open awards; how many were ever made makes no difference to their table."""
    with psycopg.connect(owner_conninfo(database_url)) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute(FILL)
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def explained(engine: Engine, question: Any) -> str:
    written = question.compile(engine, compile_kwargs={"literal_binds": True})
    with engine.begin() as session:
        return "\n".join(session.exec_driver_sql(f"EXPLAIN {written}".replace("%", "%%")).scalars())


def test_the_badge_is_counted_by_indexes_of_what_waits(engine: Engine) -> None:
    assert read(engine, open_awards.count_waiting) == 8
    assert read(engine, lambda session: open_awards.count_unclaimed(session, None, now=NOW)) == 0
    late = NOW + timedelta(days=80)
    assert read(engine, lambda session: open_awards.count_unclaimed(session, "c1", now=late)) == 999
    assert read(engine, lambda session: open_awards.count_unclaimed(session, "c2", now=late)) == 0
    assert "ix_open_awards_waiting" in explained(engine, open_awards._waiting())
    plan = explained(engine, open_awards._unclaimed(None, now=NOW))
    assert "ix_open_awards_claims" in plan
    assert "Seq Scan on open_awards" not in plan


@pytest.mark.parametrize("after", [None, Position(50, "aw_50")])
@pytest.mark.parametrize("is_oldest_first", [True, False])
@pytest.mark.parametrize("state", [None, AwardState.HELD, AwardState.PAYABLE, AwardState.UNCLAIMED])
def test_a_list_of_open_awards_reads_them_in_its_order_and_looks_up_only_those(
    engine: Engine, state: AwardState | None, *, is_oldest_first: bool, after: Position | None
) -> None:
    filters = AwardFilters(state, is_open=True, is_oldest_first=is_oldest_first, after=after)
    plan = explained(engine, open_awards._page(AUDITOR, filters, now=NOW, limit=51))
    index = "ix_open_awards_waiting" if state is AwardState.HELD else "ix_open_awards_round_key_award_id"
    assert index in plan, plan
    assert "Seq Scan" not in plan, plan


def test_awards_of_a_page_are_looked_up_by_their_ids(engine: Engine) -> None:
    plan = explained(engine, awards._by_ids([f"aw_{number}" for number in range(51)]))
    assert "ix_awards_award_id" in plan, plan
    assert "Seq Scan on awards" not in plan, plan
