"""How a test gets at the plan that a connection keeps for a statement."""

import re
from collections.abc import Mapping
from typing import Any

from psycopg import sql

from jackpot_service.database.transactions import Session, pipelined
from tests.support.drivers import connection_of


def prepared(session: Session, statement: str, parameters: Mapping[str, Any]) -> str:
    """Run a statement as the service does, and return the name that it is prepared under."""
    with pipelined(session) as pipe:
        pipe.send(statement, parameters)
    name: bytes = session.info["prepared"].names[statement]
    return name.decode()


def executed(session: Session, statement: str, parameters: Mapping[str, Any]) -> list[str]:
    """What an execution of the kept plan did."""
    name = prepared(session, statement, parameters)
    names = dict.fromkeys(re.findall(r"%\((\w+)\)s", statement))
    values = sql.SQL(", ").join([sql.Literal(parameters[one]) for one in names])
    explaining = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) EXECUTE {} ({})"
    question = sql.SQL(explaining).format(sql.Identifier(name), values)
    return [line for (line,) in connection_of(session).execute(question)]
