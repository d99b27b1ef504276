"""How a test gets at the plan that a connection keeps for a statement."""

from collections.abc import Mapping
from typing import Any

from jackpot_service.database.transactions import Session, pipelined


def prepared(session: Session, statement: str, parameters: Mapping[str, Any]) -> str:
    """Run a statement as the service does, and return the name that it is prepared under."""
    with pipelined(session) as pipe:
        pipe.send(statement, parameters)
    name: bytes = session.info["prepared"].names[statement]
    return name.decode()
