"""How a test gets at the plan that a connection keeps for a statement."""

import re
from collections.abc import Mapping
from typing import Any, Final

from psycopg import sql
from sqlalchemy import Engine

from jackpot_service.database.transactions import Session, pipelined
from tests.support.drivers import connection_of

ADD_ROUNDS: Final = """
INSERT INTO rounds (jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps,
                    bet_count, weight, replays, opened_at)
SELECT 'live', number, 'T1', lpad(number::text, 36, '0'), 'c1', 'open', 1, 1, 1, 0, 0, 0, now()
FROM generate_series(1, %(rounds)s) AS number
"""

KNOWN: Final = (0, 1, 20, 200, 500, 2000)
"""With 200 rounds, the primary key's index is one page and those of the ids more: it would seem to cost less."""


def add_rounds(engine: Engine, rounds: int) -> None:
    """Have so many rounds known."""
    with engine.begin() as session:
        connection_of(session).execute(ADD_ROUNDS, {"rounds": rounds})


def plan(engine: Engine, statement: str, parameters: Mapping[str, Any]) -> str:
    """Show the plan that is kept for every execution, whatever its parameters: the one that the service runs."""
    with engine.connect() as session:  # What it does ends with its transaction.
        session.begin()
        name = prepared(session, statement, parameters)
        connection = connection_of(session)
        ((count,),) = connection.execute(
            "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = %s", [name]
        )
        cursor = connection.execute(f"EXPLAIN EXECUTE {name} ({', '.join(['NULL'] * count)})")
        return "\n".join(line for (line,) in cursor)


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
    values = sql.SQL(", ").join([sql.Literal(parameters[name]) for name in names])
    explaining = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) EXECUTE {} ({})"
    question = sql.SQL(explaining).format(sql.Identifier(name), values)
    return [line for (line,) in connection_of(session).execute(question)]
