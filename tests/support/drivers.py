"""The driver's connection under a session of SQLAlchemy's."""

from typing import Any

import psycopg

from jackpot_service.db import Session


def connection_of(session: Session) -> psycopg.Connection[Any]:
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    return connection
