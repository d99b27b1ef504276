"""The rounds' rows: found by the caller's ids, opened, locked, and changed by each entry of theirs."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.rounds import Round, RoundState

_COLUMNS = """jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps, bet_count,
       weight, opened_at"""

_FIND = f"""
SELECT {_COLUMNS}
FROM rounds
WHERE jackpot_id = %(jackpot_id)s AND table_id = %(table_id)s AND round_id = %(round_id)s
"""  # noqa: S608  a constant

_LOCK = f"{_FIND} FOR NO KEY UPDATE"

_OPEN = """
INSERT INTO rounds (jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps,
                    bet_count, weight, replays, opened_at)
VALUES (%(jackpot_id)s, %(round_key)s, %(table_id)s, %(round_id)s, %(casino_id)s, %(state)s, %(rules_version)s,
        %(rate_sheet)s, %(steps)s, %(bet_count)s, %(weight)s, 0, %(opened_at)s)
"""

_CHANGE = """
UPDATE rounds SET state = %(state)s, steps = %(steps)s, bet_count = %(bet_count)s, weight = %(weight)s
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
"""

_COUNT_REPLAY = """
UPDATE rounds SET replays = replays + 1 WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
"""

_LATEST = f"""
SELECT {_COLUMNS}
FROM rounds
WHERE jackpot_id = %(jackpot_id)s AND table_id = %(table_id)s AND round_key < %(before)s
  AND round_key >= %(from_key)s AND round_key < %(to_key)s
ORDER BY round_key DESC
LIMIT %(limit)s
"""  # noqa: S608  a constant

_RANDOM_BITS = 21
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

LAST_KEY = 2**63 - 1


def new_key(now: datetime) -> int:
    """Make a round key: milliseconds since 1970 (42 bits), then 21 random bits; so keys are ordered by time."""
    return first_key_at(now) | secrets.randbits(_RANDOM_BITS)


def first_key_at(instant: datetime) -> int:
    """The smallest round key of an instant's millisecond."""
    return max(0, (instant - _EPOCH) // timedelta(milliseconds=1)) << _RANDOM_BITS


def send_find(pipe: Pipeline, *, jackpot_id: str, table_id: str, round_id: str) -> psycopg.Cursor[Any]:
    """Send the question for a round by the caller's ids; `round_of` reads the answer."""
    return pipe.send(_FIND, {"jackpot_id": jackpot_id, "table_id": table_id, "round_id": round_id})


def send_lock(pipe: Pipeline, *, jackpot_id: str, table_id: str, round_id: str) -> psycopg.Cursor[Any]:
    """As `send_find`, and keep every other change of the round waiting until the commit."""
    return pipe.send(_LOCK, {"jackpot_id": jackpot_id, "table_id": table_id, "round_id": round_id})


def round_of(cursor: psycopg.Cursor[Any]) -> Round | None:
    """Read the answer: the round, or None if it was never seen."""
    row = cursor.fetchone()
    return None if row is None else _round(row)


def _round(row: tuple[Any, ...]) -> Round:
    jackpot_id, round_key, table_id, round_id, casino_id, state, *rest = row
    return Round(jackpot_id, round_key, table_id, round_id, casino_id, RoundState(state), *rest)


def add(pipe: Pipeline, round_: Round) -> None:
    """Write a round that is first seen. If another transaction was first, the unique key says so: read again."""
    pipe.send(
        _OPEN,
        {
            "jackpot_id": round_.jackpot_id,
            "round_key": round_.round_key,
            "table_id": round_.table_id,
            "round_id": round_.round_id,
            "casino_id": round_.casino_id,
            "state": round_.state.value,
            "rules_version": round_.rules_version,
            "rate_sheet": round_.rate_sheet,
            "steps": round_.steps,
            "bet_count": round_.bet_count,
            "weight": round_.weight,
            "opened_at": round_.opened_at,
        },
    )


def change(pipe: Pipeline, round_: Round) -> None:
    """Write what an entry changed of a round that is locked."""
    pipe.send(
        _CHANGE,
        {
            "jackpot_id": round_.jackpot_id,
            "round_key": round_.round_key,
            "state": round_.state.value,
            "steps": round_.steps,
            "bet_count": round_.bet_count,
            "weight": round_.weight,
        },
    )


def save(pipe: Pipeline, round_: Round) -> None:
    """Write a round after an entry of it: added by its first step, changed by every later one."""
    if round_.steps == 1:
        add(pipe, round_)
    else:
        change(pipe, round_)


def count_replay(pipe: Pipeline, round_: Round) -> None:
    """
    Count a repeated call before it is answered.

    A replay that only read would write no WAL and wait for no replica: under synchronous replication it could confirm
    a commit that a failover then loses. By writing, its own commit waits.
    """
    pipe.send(_COUNT_REPLAY, {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key})


def send_latest(
    pipe: Pipeline,
    *,
    jackpot_id: str,
    table_id: str,
    before: int = LAST_KEY,
    from_key: int = 0,
    to_key: int = LAST_KEY,
    limit: int,
) -> psycopg.Cursor[Any]:
    """Send the question for a table's rounds, newest first; `rounds_of` reads the answer."""
    return pipe.send(
        _LATEST,
        {
            "jackpot_id": jackpot_id,
            "table_id": table_id,
            "before": before,
            "from_key": from_key,
            "to_key": to_key,
            "limit": limit,
        },
    )


def rounds_of(cursor: psycopg.Cursor[Any]) -> tuple[Round, ...]:
    """Read the answer, in its order."""
    return tuple(_round(row) for row in cursor)
