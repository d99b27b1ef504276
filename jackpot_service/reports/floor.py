"""The floor of a casino now: each of its tables with its open rounds, its last result, and when it was last heard."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jackpot_service.database.pipelines import Cursor
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round
from jackpot_service.records import references, round_search, rounds
from jackpot_service.records.immutable import Table
from jackpot_service.records.round_search import FoundRound, RoundFilters

LOOKED_AT: Final = 5
"""So many of a table's latest rounds are looked at for its last result: of those, most have ended."""

MOST_OPEN: Final = 500
"""Open rounds of a casino that are read; far more than its tables have at once."""

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
class TableOnFloor:
    """
    A table with its rounds that have not ended, the latest first.

    `last_heard_at` is when the last entry of its latest round came in; None of a table that never opened a round.
    """

    table: Table
    open_rounds: Sequence[FoundRound]
    last: LastResult | None
    last_heard_at: datetime | None

    @property
    def waits_since(self) -> datetime | None:
        """When the oldest of its rounds was opened that has not ended."""
        return min((round_.opened_at for round_ in self.open_rounds), default=None)


@dataclass(frozen=True, slots=True)
class CasinoOnFloor:
    """A casino and its rounds that have not ended, the latest first; `table_count` is of its tables with a jackpot."""

    casino: Casino
    table_count: int
    open_rounds: Sequence[FoundRound]

    @property
    def waits_since(self) -> datetime | None:
        """When the oldest of these rounds was opened."""
        return min((round_.opened_at for round_ in self.open_rounds), default=None)


def casinos_on_floor(
    session: Session, principal: Principal, *, at: datetime, limit: int, after: str | None = None
) -> Sequence[CasinoOnFloor]:
    """List the casinos that a principal may see, by id, with their rounds that have not ended."""
    return [
        CasinoOnFloor(
            casino,
            references.count_tables(session, casino.casino_id),
            _open_rounds(session, principal, casino.casino_id, at=at),
        )
        for casino in references.casinos(session, principal, limit=limit, after=after)
    ]


def tables_on_floor(
    session: Session, principal: Principal, casino_id: str, *, at: datetime, limit: int, after: str | None = None
) -> Sequence[TableOnFloor]:
    """List the tables of a casino that a principal may see, by id."""
    tables = references.tables(session, principal, casino_id=casino_id, limit=limit, after=after)
    waiting: defaultdict[str, list[FoundRound]] = defaultdict(list)
    for round_ in _open_rounds(session, principal, casino_id, at=at):
        waiting[round_.table_id].append(round_)
    latest = _latest_rounds(session, tables)
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
    return [
        TableOnFloor(
            table,
            waiting[table.table_id],
            _last_result(ended.get(table.table_id), entries),
            _received_at(heard.get(table.table_id), entries),
        )
        for table in tables
    ]


def _open_rounds(session: Session, principal: Principal, casino_id: str, *, at: datetime) -> Sequence[FoundRound]:
    filters = RoundFilters(has_ended=False, casino_id=casino_id)
    return round_search.latest_rounds(session, principal, filters, limit=MOST_OPEN, now=at)


def _latest_rounds(session: Session, tables: Sequence[Table]) -> dict[str, list[Round]]:
    with pipelined(session) as pipe:
        cursors = {
            table.table_id: rounds.send_latest(
                pipe, jackpot_id=table.jackpot_id, table_id=table.table_id, limit=LOOKED_AT
            )
            for table in tables
            if table.jackpot_id is not None
        }
    return {table_id: list(rounds.rounds_of(cursor)) for table_id, cursor in cursors.items()}


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
