"""The driver's connection under a session of SQLAlchemy's, and what it is asked."""

import os
import tempfile
from collections.abc import Callable
from typing import Any

import psycopg
import sqlalchemy

from jackpot_service.db import Session


def connection_of(session: Session) -> psycopg.Connection[Any]:
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    return connection


def round_trips(engine: sqlalchemy.Engine, call: Callable[[], object]) -> int:
    """Count them on the pool's one connection that a call takes: the one that was given back last."""
    with engine.connect() as session:
        connection = connection_of(session)
    with tempfile.TemporaryFile() as told:
        connection.pgconn.trace(os.dup(told.fileno()))
        call()
        connection.pgconn.untrace()
        told.seek(0)
        return sum(b"\tSync" in line for line in told)
