"""Open rounds of a floor are found by the index that holds just them, also on tables that are new and empty."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.reports import floor
from tests.records.kept_plans import KNOWN, add_rounds, plan


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def known(request: pytest.FixtureRequest, engine: Engine) -> None:
    """Have so many rounds known."""
    add_rounds(engine, request.param)


WAYS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (floor._OPEN_BY_CASINO, {"casino_ids": ["c1", "c2"], "callers_tables": None}, "casino_id = ANY"),
    (floor._OPEN_BY_TABLE, {"table_ids": ["T1", "T2"], "shown": floor.SHOWN_OPEN}, "table_id = ANY"),
)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("known", KNOWN, indirect=True)
@pytest.mark.parametrize(("statement", "parameters", "condition"), WAYS)
def test_open_rounds_are_found_by_their_own_index(
    engine: Engine, statement: str, parameters: dict[str, Any], condition: str
) -> None:
    plan_ = plan(engine, statement, {**parameters, "jackpot_id": "live"})
    (scan,) = (line for line in plan_.splitlines() if "on rounds" in line)
    assert "ix_rounds_open" in scan, plan_
    assert condition in plan_
