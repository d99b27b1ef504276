"""While all stripes of a jackpot are locked, its few open rounds are found among all by an index."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session
from jackpot_service.records import lives


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    engine = create_engine(Config(), database_url)
    with engine.connect() as session:
        session.begin()
        yield session
    engine.dispose()


@pytest.mark.parametrize("look", [lives.open_round, lives.open_weights])
def test_open_rounds_are_found_by_their_index(session: Session, look: Callable[[Session, str], Any]) -> None:
    sent_statements: list[tuple[str, Any]] = []

    @event.listens_for(session, "before_cursor_execute", named=True)
    def note(**sent: Any) -> None:
        sent_statements.append((sent["statement"], sent["parameters"]))

    look(session, "j1")
    event.remove(session, "before_cursor_execute", note)
    ((statement, parameters),) = sent_statements
    plan = "\n".join(line for (line,) in session.exec_driver_sql(f"EXPLAIN {statement}", parameters))

    assert "ix_rounds_open on rounds" in plan
    assert "Seq Scan" not in plan
