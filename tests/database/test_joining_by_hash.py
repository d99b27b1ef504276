"""Statements that are to join by hashes do so alone: what else is asked in their transaction is planned as ever."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from jackpot_service.config.settings import Config
from jackpot_service.database import long_lists
from jackpot_service.database.connections import create_engine
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session

NAMES = ("enable_nestloop", "jit")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = create_engine(Config(), database_url)
    yield engine
    engine.dispose()


def settings_of(session: Session) -> tuple[str, ...]:
    return tuple(session.execute(text("SELECT current_setting(:name)"), {"name": name}).scalar_one() for name in NAMES)


def test_in_the_block_no_plan_compares_each_row_with_each_or_is_compiled(engine: Engine) -> None:
    with snapshot(engine) as session:
        before = settings_of(session)
        with long_lists.joining_by_hash(session):
            assert settings_of(session) == ("off", "off")
        assert settings_of(session) == before
    assert before[0] == "on"


@pytest.mark.parametrize("joins_by_hash", [False, True])
def test_the_first_page_of_a_list_is_made_in_the_block(engine: Engine, *, joins_by_hash: bool) -> None:
    statement = "SELECT current_setting('enable_nestloop') AS setting, number FROM generate_series(1, 3) AS number"
    with snapshot(engine) as session:
        rows = list(long_lists.rows_of(session, statement, {}, ("setting", "number"), joins_by_hash=joins_by_hash))
        after = settings_of(session)

    assert [setting for setting, _ in rows] == ["off" if joins_by_hash else "on"] * 3
    assert after[0] == "on"
