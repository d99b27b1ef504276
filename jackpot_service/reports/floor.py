"""The floor of a casino now: each of its tables with its open rounds, its last result, and when it was last heard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import references, rounds
from jackpot_service.records.immutable import Table

LOOKED_AT: Final = 5
"""So many of a table's latest rounds are looked at for its last result: of those, most have ended."""

SHOWN_OPEN: Final = 3
"""So many of a table's rounds that have not ended are listed, the latest."""

# Asked of each jackpot by itself, all in one round trip. An index holds just the rounds that have not ended.
_OPEN_BY_CASINO: Final = """
SELECT casino_id, count(*), min(opened_at)
FROM rounds
WHERE jackpot_id = %(jackpot_id)s::text AND state IN ('open', 'closed')
  AND casino_id = ANY(%(casino_ids)s::text[])
  AND (CAST(%(callers_tables)s AS text[]) IS NULL OR table_id = ANY(%(callers_tables)s))
GROUP BY casino_id
"""

_OPEN_BY_TABLE: Final = """
SELECT table_id, open_count, waits_since, round_id, state, opened_at, game_number, bet_count
FROM (
    SELECT table_id, round_key, round_id, state, opened_at, game_number, bet_count,
           count(*) OVER of_table AS open_count, min(opened_at) OVER of_table AS waits_since,
           row_number() OVER (PARTITION BY table_id ORDER BY round_key DESC) AS place
    FROM rounds
    WHERE jackpot_id = %(jackpot_id)s::text AND state IN ('open', 'closed')
      AND table_id = ANY(%(table_ids)s::text[])
    WINDOW of_table AS (PARTITION BY table_id)
) AS waiting
WHERE place <= %(shown)s
ORDER BY round_key DESC
"""

# A round that has ended did so with its last step.
_LAST_ENTRY: Final = """
SELECT kind, received_at, facts #>> '{settlement,carried}' IS NOT NULL
FROM entries
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s
ORDER BY step DESC
LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class LastResult:
    """The latest round of a table that has ended, when its end came, and whether the jackpot was won."""

    round: Round
    ended_at: datetime
    is_hit: bool


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round of a table that has not ended."""

    round_id: str
    state: RoundState
    opened_at: datetime
    game_number: str | None
    bet_count: int


@dataclass(frozen=True, slots=True)
class OpenRounds:
    """A table's rounds that have not ended: how many, when the oldest of all was opened, and the latest few."""

    count: int
    waits_since: datetime | None
    latest: Sequence[OpenRound]


@dataclass(frozen=True, slots=True)
class TableOnFloor:
    """
    A table with its rounds that have not ended.

    `last_heard_at` is when the last entry of its latest round came in; None of a table that never opened a round.
    """

    table: Table
    open_rounds: OpenRounds
    last: LastResult | None
    last_heard_at: datetime | None


@dataclass(frozen=True, slots=True)
class CasinoOnFloor:
    """
    A casino and how many of its rounds have not ended, with the time when the oldest of them was opened.

    `table_count` is of its tables with a jackpot.
    """

    casino: Casino
    table_count: int
    open_count: int
    waits_since: datetime | None


def casinos_on_floor(
    session: Session, principal: Principal, *, limit: int, after: str | None = None
) -> Sequence[CasinoOnFloor]:
    """List the casinos that a principal may see, by id, with their rounds that have not ended."""
    casinos = references.casinos(session, principal, limit=limit, after=after)
    tables = references.count_tables(session, [casino.casino_id for casino in casinos])
    parameters = {
        "casino_ids": sorted({casino_id for casino_id, _ in tables}),
        "callers_tables": sorted(principal.table_ids) or None,
    }
    with pipelined(session) as pipe:
        cursors = [
            pipe.send(_OPEN_BY_CASINO, {**parameters, "jackpot_id": jackpot_id})
            for jackpot_id in sorted({jackpot_id for _, jackpot_id in tables})
        ]
    waiting: defaultdict[str, list[tuple[int, datetime]]] = defaultdict(list)
    for casino_id, open_count, waits_since in (row for cursor in cursors for row in cursor):
        waiting[casino_id].append((open_count, waits_since))
    return [
        CasinoOnFloor(
            casino,
            sum(count for (casino_id, _), count in tables.items() if casino_id == casino.casino_id),
            sum(open_count for open_count, _ in waiting[casino.casino_id]),
            min((waits_since for _, waits_since in waiting[casino.casino_id]), default=None),
        )
        for casino in casinos
    ]


def tables_on_floor(
    session: Session, principal: Principal, casino_id: str, *, limit: int, after: str | None = None
) -> Sequence[TableOnFloor]:
    """List the tables of a casino that a principal may see, by id."""
    tables = references.tables(session, principal, casino_id=casino_id, limit=limit, after=after)
    with pipelined(session) as pipe:
        latest_cursors, open_cursors = _send_latest_rounds(pipe, tables), _send_open_rounds(pipe, tables)
    latest = {table_id: list(rounds.rounds_of(cursor)) for table_id, cursor in latest_cursors.items()}
    heard = {table_id: rows[0] for table_id, rows in latest.items() if rows}
    ended = {
        table_id: last
        for table_id, rows in latest.items()
        if (last := next((round_ for round_ in rows if round_.has_ended), None)) is not None
    }
    with pipelined(session) as pipe:
        cursors: Mapping[int, Cursor] = {
            round_.round_key: pipe.send(_LAST_ENTRY, {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key})
            for round_ in {*heard.values(), *ended.values()}
        }
    entries = {round_key: cursor.fetchone() for round_key, cursor in cursors.items()}
    waiting = _waiting(open_cursors)
    return [
        TableOnFloor(
            table,
            waiting.get(table.table_id, OpenRounds(0, None, ())),
            _last_result(ended.get(table.table_id), entries),
            _received_at(heard.get(table.table_id), entries),
        )
        for table in tables
    ]


def _send_open_rounds(pipe: Pipeline, tables: Sequence[Table]) -> Sequence[Cursor]:
    jackpot_ids = sorted({table.jackpot_id for table in tables if table.jackpot_id is not None})
    parameters = {"table_ids": [table.table_id for table in tables], "shown": SHOWN_OPEN}
    return [pipe.send(_OPEN_BY_TABLE, {**parameters, "jackpot_id": jackpot_id}) for jackpot_id in jackpot_ids]


def _waiting(cursors: Sequence[Cursor]) -> Mapping[str, OpenRounds]:
    """Read the open rounds of each table that has some."""
    totals: dict[str, tuple[int, datetime]] = {}
    latest: defaultdict[str, list[OpenRound]] = defaultdict(list)
    for table_id, open_count, waits_since, round_id, state, *rest in (row for cursor in cursors for row in cursor):
        totals[table_id] = open_count, waits_since
        latest[table_id].append(OpenRound(round_id, RoundState(state), *rest))
    return {table_id: OpenRounds(*total, latest[table_id]) for table_id, total in totals.items()}


def _send_latest_rounds(pipe: Pipeline, tables: Sequence[Table]) -> Mapping[str, Cursor]:
    return {
        table.table_id: rounds.send_latest(pipe, jackpot_id=table.jackpot_id, table_id=table.table_id, limit=LOOKED_AT)
        for table in tables
        if table.jackpot_id is not None
    }


_Entries = Mapping[int, tuple[str, datetime, bool] | None]


def _last_result(round_: Round | None, entries: _Entries) -> LastResult | None:
    entry = None if round_ is None else entries[round_.round_key]
    if round_ is None or entry is None:
        return None
    _, received_at, is_hit = entry
    return LastResult(round_, received_at, is_hit)


def _received_at(round_: Round | None, entries: _Entries) -> datetime | None:
    entry = None if round_ is None else entries[round_.round_key]
    return None if entry is None else entry[1]
