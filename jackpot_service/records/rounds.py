"""The rounds' rows: found by the caller's ids, opened, locked, and changed by each entry of theirs."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import plain
from jackpot_service.domain.rounds import LAST_KEY, RANDOM_BITS, Round, RoundState, first_key_at

# A round is found by the caller's ids in the words of the only index that finds it, `uq_rounds_ids`.
#
# Rounds are locked and added in the order of the caller's ids, which is the same for everybody. Each is looked up by
# itself (LATERAL, LIMIT): a join would read all rounds of a jackpot whose table is thought to be small.
_NAMED = """
SELECT found.*
FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' ')) AS asked (table_id, round_id)
CROSS JOIN LATERAL (
    SELECT jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps, bet_count,
           weight, opened_at, game_number
    FROM rounds
    WHERE jackpot_id = %(jackpot_id)s::text
      AND by_index(table_id || ' ' || round_id) = asked.table_id || ' ' || asked.round_id
    LIMIT 1
) AS found
"""

_LOCK = _NAMED.replace("LIMIT 1", "LIMIT 1 FOR NO KEY UPDATE")

_ADD = """
INSERT INTO rounds (jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps,
                    bet_count, weight, replays, opened_at, game_number)
SELECT %(jackpot_id)s, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps, bet_count,
       weight, 0, opened_at, nullif(game_number, '')
FROM unnest(string_to_array(%(round_keys)s, ' ')::bigint[], string_to_array(%(table_ids)s, ' '),
            string_to_array(%(round_ids)s, ' '), string_to_array(%(casino_ids)s, ' '),
            string_to_array(%(states)s, ' '), string_to_array(%(rules_versions)s, ' ')::int[],
            string_to_array(%(rate_sheets)s, ' ')::int[], string_to_array(%(steps)s, ' ')::int[],
            string_to_array(%(bet_counts)s, ' ')::int[], string_to_array(%(weights)s, ' ')::numeric[],
            string_to_array(%(opened_at)s, ' ')::timestamptz[], string_to_array(%(game_numbers)s, ' '))
     AS new (round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps, bet_count, weight,
             opened_at, game_number)
WHERE current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
ORDER BY table_id, round_id
"""

# A known round is changed by a statement of its own, by its ids. A join with the rounds to be changed could be planned
# the other way round while the table is new. It would read all of a jackpot's rounds for good.
_CHANGE = """
UPDATE rounds
SET state = %(state)s, steps = %(steps)s, bet_count = %(bet_count)s, weight = %(weight)s,
    game_number = %(game_number)s
WHERE jackpot_id = %(jackpot_id)s::text
  AND by_index(table_id || ' ' || round_id) = %(table_id)s::text || ' ' || %(round_id)s::text
"""

_COUNT_REPLAY = """
UPDATE rounds SET replays = replays + 1
WHERE jackpot_id = %(jackpot_id)s::text
  AND by_index(table_id || ' ' || round_id) = %(table_id)s::text || ' ' || %(round_id)s::text
"""

_LATEST = """
SELECT jackpot_id, round_key, table_id, round_id, casino_id, state, rules_version, rate_sheet, steps, bet_count,
       weight, opened_at, game_number
FROM rounds
WHERE jackpot_id = %(jackpot_id)s AND by_index(table_id) = %(table_id)s
  AND round_key < %(before)s
  AND round_key >= %(from_key)s AND round_key < %(to_key)s
ORDER BY round_key DESC
LIMIT %(limit)s
"""

# Found by the round's ids, at one table after another: there are few.
_IS_AT_SOME_TABLE = """
SELECT EXISTS (
    SELECT
    FROM tables t
    CROSS JOIN LATERAL (
        SELECT
        FROM rounds
        WHERE jackpot_id = %(jackpot_id)s::text
          AND by_index(table_id || ' ' || round_id) = t.table_id || ' ' || %(round_id)s::text
        LIMIT 1
    ) AS found
    WHERE t.jackpot_id = %(jackpot_id)s
      AND (CAST(%(casino_id)s AS text) IS NULL OR t.casino_id = %(casino_id)s)
      AND (CAST(%(table_id)s AS text) IS NULL OR t.table_id = %(table_id)s)
)
"""


class UnknownRound(NotFound, code="round-unknown", title="Unknown round"):
    """The table has no round of this id, or no table that was asked about has."""


class RoundName(NamedTuple):
    """The caller's ids of a round of some jackpot."""

    table_id: str
    round_id: str


def new_key(now: datetime) -> int:
    """Make a round key: milliseconds since 1970 (42 bits), then 21 random bits; so keys are ordered by time."""
    return first_key_at(now) | secrets.randbits(RANDOM_BITS)


def name_columns(names: Sequence[RoundName]) -> dict[str, str]:
    """Write rounds' names as the parameters that statements on several rounds take."""
    return {
        "table_ids": " ".join([name.table_id for name in names]),
        "round_ids": " ".join([name.round_id for name in names]),
    }


def send_find(pipe: Pipeline, jackpot_id: str, name: RoundName) -> Cursor:
    """Send the question for a round by the caller's ids; `round_of` reads the answer."""
    return pipe.send(_NAMED, {"jackpot_id": jackpot_id, **name_columns([name])})


def require(session: Session, jackpot_id: str, name: RoundName) -> Round:
    """Find a round by the caller's ids. Raises: UnknownRound."""
    with pipelined(session) as pipe:
        cursor = send_find(pipe, jackpot_id, name)
    round_ = round_of(cursor)
    if round_ is None:
        raise unknown(name)
    return round_


def those_there(session: Session, jackpot_id: str, names: Sequence[RoundName]) -> frozenset[RoundName]:
    """Return those of some names of which there is a round of this jackpot."""
    with pipelined(session) as pipe:
        cursor = pipe.send(_NAMED, {"jackpot_id": jackpot_id, **name_columns(names)})
    return frozenset(RoundName(round_.table_id, round_.round_id) for round_ in rounds_of(cursor))


def unknown(name: RoundName) -> UnknownRound:
    """Make the error for a round that a table does not have."""
    message = f"Table {name.table_id} has no round {name.round_id}."
    return UnknownRound(message, table_id=name.table_id, round_id=name.round_id)


def is_at_some_table(
    session: Session, jackpot_id: str, round_id: str, *, casino_id: str | None, table_id: str | None
) -> bool:
    """Return whether a table of a jackpot has a round of this id: any, or that of a casino and an id if given."""
    with pipelined(session) as pipe:
        parameters = {"jackpot_id": jackpot_id, "round_id": round_id, "casino_id": casino_id, "table_id": table_id}
        cursor = pipe.send(_IS_AT_SOME_TABLE, parameters)
    ((is_there,),) = cursor
    return bool(is_there)


def send_lock(pipe: Pipeline, jackpot_id: str, names: Sequence[RoundName]) -> Cursor:
    """As `send_find`, for several, and keep every other change of them waiting until the commit."""
    return pipe.send(_LOCK, {"jackpot_id": jackpot_id, **name_columns(sorted(names))})


def round_of(cursor: Cursor) -> Round | None:
    """Read the answer for one round: the round, or None if it was never seen."""
    return next(iter(rounds_of(cursor)), None)


def rounds_of(cursor: Cursor) -> tuple[Round, ...]:
    """Read the answer, in its order."""
    return tuple(_round(row) for row in cursor)


def _round(row: tuple[Any, ...]) -> Round:
    jackpot_id, round_key, table_id, round_id, casino_id, state, *rest = row
    return Round(jackpot_id, round_key, table_id, round_id, casino_id, RoundState(state), *rest)


def save(pipe: Pipeline, rounds: Sequence[Round]) -> None:
    """
    Write rounds of one jackpot after an entry of each: added by the first step, changed by every later one.

    If another transaction was first to add one, the unique key says so: read again.
    """
    added = [round_ for round_ in rounds if round_.steps == 1]
    if added:
        pipe.send(_ADD, _columns(added))
    for round_ in rounds:
        if round_.steps > 1:
            pipe.send(_CHANGE, {**_ids(round_), **_change(round_)})


def _ids(round_: Round) -> dict[str, str]:
    return {"jackpot_id": round_.jackpot_id, "table_id": round_.table_id, "round_id": round_.round_id}


def _change(round_: Round) -> dict[str, Any]:
    return {
        "state": round_.state.value,
        "steps": round_.steps,
        "bet_count": round_.bet_count,
        "weight": round_.weight,
        "game_number": round_.game_number,
    }


def _columns(rounds: Sequence[Round]) -> dict[str, Any]:
    return {
        "jackpot_id": rounds[0].jackpot_id,
        **name_columns([RoundName(round_.table_id, round_.round_id) for round_ in rounds]),
        "round_keys": " ".join([str(round_.round_key) for round_ in rounds]),
        "casino_ids": " ".join([round_.casino_id for round_ in rounds]),
        "states": " ".join([round_.state.value for round_ in rounds]),
        "rules_versions": " ".join([str(round_.rules_version) for round_ in rounds]),
        "rate_sheets": " ".join([str(round_.rate_sheet) for round_ in rounds]),
        "steps": " ".join([str(round_.steps) for round_ in rounds]),
        "bet_counts": " ".join([str(round_.bet_count) for round_ in rounds]),
        "weights": " ".join([plain(round_.weight) for round_ in rounds]),
        "opened_at": " ".join([round_.opened_at.isoformat() for round_ in rounds]),
        "game_numbers": " ".join([round_.game_number or "" for round_ in rounds]),
    }


def count_replays(pipe: Pipeline, rounds: Sequence[Round]) -> None:
    """
    Count a repeated call on each of some rounds before it is answered.

    A replay that only read would write no WAL and wait for no replica: under synchronous replication it could confirm
    a commit that a failover then loses. By writing, its own commit waits.
    """
    for round_ in rounds:
        pipe.send(_COUNT_REPLAY, _ids(round_))


def send_latest(
    pipe: Pipeline,
    *,
    jackpot_id: str,
    table_id: str,
    before: int = LAST_KEY,
    from_key: int = 0,
    to_key: int = LAST_KEY,
    limit: int,
) -> Cursor:
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
