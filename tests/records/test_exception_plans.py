"""The list of exceptions reads no more rounds than are open, however many have ended, and puts none in order."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session
from jackpot_service.records import noted_exceptions
from jackpot_service.records.noted_exceptions import ExceptionFilters

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    engine = create_engine(Config(), database_url)
    with engine.connect() as session:
        session.begin()
        yield session
    engine.dispose()


def plan_of(session: Session, filters: ExceptionFilters) -> str:
    """Show the plan of the list, for any parameters."""
    sent_statements: list[tuple[str, Any]] = []

    @event.listens_for(session, "before_cursor_execute", named=True)
    def note(**sent: Any) -> None:
        sent_statements.append((sent["statement"], sent["parameters"]))

    noted_exceptions.latest(session, filters, opened_before=NOW, limit=50)
    event.remove(session, "before_cursor_execute", note)
    ((statement, parameters),) = sent_statements
    lines = session.exec_driver_sql(f"EXPLAIN {statement}", parameters)
    return "\n".join(line for (line,) in lines)


@pytest.mark.parametrize("filters", [ExceptionFilters(), ExceptionFilters(is_acknowledged=False)])
def test_open_rounds_are_found_by_their_index_and_refusals_by_their_time(
    session: Session, filters: ExceptionFilters
) -> None:
    plan = plan_of(session, filters)

    assert "using ix_rounds_open on rounds" in plan
    assert "Index Scan Backward using pk_exceptions on exceptions" in plan
    assert "Seq Scan" not in plan
