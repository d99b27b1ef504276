"""The hot statements find their rows by the right index, also on tables that are new and empty."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from jackpot_service.config import Config
from jackpot_service.db import Session, create_engine, pipelined
from jackpot_service.records import bets, rounds, standing, verdicts

BY_IDS: Final = "uq_rounds_jackpot_id_table_id_round_id"
ASKED: Final = {"jackpot_id": "live", "table_ids": "T1 T2", "round_ids": "r1 r2"}


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    engine = create_engine(Config(), database_url)
    with engine.connect() as session:
        session.begin()
        yield session
    engine.dispose()


def plan(session: Session, statement: str, parameters: Mapping[str, Any]) -> str:
    with pipelined(session) as pipe:
        cursor = pipe.send(f"EXPLAIN {statement}", parameters)
    return "\n".join(line for (line,) in cursor)


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (rounds._NAMED, ASKED),
        (rounds._LOCK, ASKED),
        (bets._OF_ROUND, ASKED),
        (bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"}),
        (bets._TOMBSTONES, ASKED),
        (standing._READ, {**ASKED, "came": ["2026-01-01"]}),
    ],
)
def test_a_round_is_looked_up_by_all_its_ids(session: Session, statement: str, parameters: Mapping[str, Any]) -> None:
    found = plan(session, statement, parameters)
    assert f"using {BY_IDS}" in found
    assert "(table_id = asked.table_id) AND (round_id = asked.round_id)" in found
    assert "Seq Scan" not in found


@pytest.mark.parametrize(
    ("statement", "parameters", "index"),
    [
        (bets._OF_ROUND, ASKED, "pk_voids"),
        (bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"}, "pk_voids"),
        (verdicts._AWARDS, {"jackpot_id": "live", "round_key": 1}, "pk_bets"),
    ],
)
def test_what_belongs_to_a_bet_is_looked_up_by_its_id(
    session: Session, statement: str, parameters: Mapping[str, Any], index: str
) -> None:
    """A large round would otherwise cost its bets times its voids, or times its awards."""
    lines = plan(session, statement, parameters).splitlines()
    (scan,) = (number for number, line in enumerate(lines) if f"using {index}" in line)
    assert "Index Cond" in lines[scan + 1]
    assert "bet_id = " in lines[scan + 1]


def test_a_batch_is_held_against_its_round_by_hash(session: Session) -> None:
    found = plan(session, bets._OF_BATCHES, {**ASKED, "bet_ids": "b1", "player_ids": "p1"})
    assert found.count("hashed SubPlan") == 2


def test_a_tables_latest_rounds_are_read_in_their_order(session: Session) -> None:
    asked = {"jackpot_id": "live", "table_id": "T1", "before": 9, "from_key": 1, "to_key": 8, "limit": 5}
    found = plan(session, rounds._LATEST, asked)
    assert "Index Scan Backward using ix_rounds_latest" in found
    assert "Sort" not in found
