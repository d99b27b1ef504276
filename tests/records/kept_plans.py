"""How a test gets at the plan that a connection keeps for a statement."""

from collections.abc import Mapping
from typing import Any

import psycopg

from jackpot_service.db import Session, pipelined


def connection_of(session: Session) -> psycopg.Connection[Any]:
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    return connection


def prepared(session: Session, statement: str, parameters: Mapping[str, Any]) -> str:
    """Run a statement as the service does, and return the name that it is prepared under."""
    with pipelined(session) as pipe:
        pipe.send(statement, parameters)
    name: bytes = session.info["prepared"].names[statement]
    return name.decode()
