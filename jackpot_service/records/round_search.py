"""
Rounds of all tables, the latest first: searched for by state, game number, table, casino, player and bet.

Of rounds that have not ended, and of a game number, an index knows which there are. Others are searched for in one span
of time after another, as a player's bets are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import TextClause, select, text

from jackpot_service.database.models import TableRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import ENDED, LAST_KEY, KeyRange, RoundState, spans_back
from jackpot_service.records.players import edge, gathered

# Asked of each jackpot by itself, all in one round trip. Instead of `true` stands what an index knows.
_LISTED: Final = """
SELECT jackpot_id, round_key, casino_id, table_id, round_id, state, opened_at, game_number, rules_version, rate_sheet,
       bet_count, weight
FROM rounds
WHERE jackpot_id = %(jackpot_id)s::text AND true
  AND round_key >= %(first)s AND round_key < %(end)s
  AND state = ANY(%(states)s::text[])
  AND (CAST(%(game_number)s AS text) IS NULL OR game_number = %(game_number)s)
  AND (CAST(%(table_id)s AS text) IS NULL OR table_id = %(table_id)s)
  AND (CAST(%(casino_id)s AS text) IS NULL OR casino_id = %(casino_id)s)
  AND (CAST(%(callers_tables)s AS text[]) IS NULL OR table_id = ANY(%(callers_tables)s))
ORDER BY round_key DESC
LIMIT %(limit)s
"""

# In the words of their indexes. That of rounds that have not ended knows their tables and casinos as well.
_OF_NUMBER: Final = "by_index(game_number) = %(game_number)s AND game_number IS NOT NULL"
_NOT_ENDED: Final = "state IN ('open', 'closed')"
_AT_TABLE: Final = "table_id = %(table_id)s::text"
_OF_CASINO: Final = "casino_id = %(casino_id)s::text"
_LATEST_AT_TABLE: Final = "by_index(table_id) = %(table_id)s"

# By each round's own key: a join could read all bets.
_PLAYED: Final = """(
    SELECT true
    FROM bets b
    WHERE b.jackpot_id = %(jackpot_id)s::text AND b.round_key = rounds.round_key
      AND (CAST(%(player_id)s AS text) IS NULL OR b.player_id = %(player_id)s)
      AND (CAST(%(bet_id)s AS text) IS NULL OR b.bet_id = %(bet_id)s)
    LIMIT 1
)"""

# Of several jackpots at once: each would otherwise search the same index.
_OF_BETS: Final = """
SELECT found.*
FROM (
    SELECT DISTINCT b.round_key, b.jackpot_id
    FROM bets b
    WHERE true AND b.round_key >= :first AND b.round_key < :end
      AND (b.round_key, b.jackpot_id) < (:before_key, :before_jackpot)
      AND (CAST(:jackpot_id AS text) IS NULL OR b.jackpot_id = :jackpot_id)
) AS played
CROSS JOIN LATERAL (
    SELECT o.jackpot_id, o.round_key, o.casino_id, o.table_id, o.round_id, o.state, o.opened_at, o.game_number,
           o.rules_version, o.rate_sheet, o.bet_count, o.weight
    FROM rounds o
    WHERE o.jackpot_id = played.jackpot_id AND o.round_key = played.round_key
      AND o.state = ANY(CAST(:states AS text[]))
      AND (CAST(:game_number AS text) IS NULL OR o.game_number = :game_number)
      AND (CAST(:table_id AS text) IS NULL OR o.table_id = :table_id)
      AND (CAST(:casino_id AS text) IS NULL OR o.casino_id = :casino_id)
      AND (CAST(:callers_tables AS text[]) IS NULL OR o.table_id = ANY(:callers_tables))
    LIMIT 1
) AS found
ORDER BY played.round_key DESC, played.jackpot_id DESC
LIMIT :most
"""


class RoundPosition(NamedTuple):
    """Where a round stands in a list over all jackpots: the latest comes first."""

    round_key: int
    jackpot_id: str


@dataclass(frozen=True, slots=True)
class FoundRound:
    """A round as a list of several jackpots names it; `bet_count` and `weight` (base units) are of its live bets."""

    jackpot_id: str
    round_key: int
    casino_id: str
    table_id: str
    round_id: str
    state: RoundState
    opened_at: datetime
    game_number: str | None
    rules_version: int
    rate_sheet: int
    bet_count: int
    weight: Decimal

    @property
    def position(self) -> RoundPosition:
        """Where it stands in the list."""
        return RoundPosition(self.round_key, self.jackpot_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFilters:
    """
    Which rounds to list: None stands for all. `after` is the position of the last one before.

    `bet_id` and `player_id` ask for rounds with such a bet, void or not; both together for one bet that is so.
    `start` is included and `end` is not; both are of the rounds' opening, and cut to milliseconds.
    """

    game_number: str | None = None
    state: RoundState | None = None
    has_ended: bool | None = None
    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    player_id: str | None = None
    bet_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    after: RoundPosition | None = None

    @property
    def states(self) -> frozenset[RoundState]:
        """The states that they leave."""
        states = frozenset(RoundState) if self.state is None else frozenset({self.state})
        return states if self.has_ended is None else states & ENDED if self.has_ended else states - ENDED

    @property
    def keys(self) -> KeyRange:
        """The keys of the rounds that they leave."""
        return KeyRange.between(self.start, self.end, upto=None if self.after is None else self.after.round_key)

    @property
    def is_of_bets(self) -> bool:
        """Whether they ask for rounds with some bet."""
        return self.player_id is not None or self.bet_id is not None


def latest_rounds(
    session: Session, principal: Principal, filters: RoundFilters, *, limit: int, now: datetime
) -> Sequence[FoundRound]:
    """List the rounds that a principal may see, the latest first. Raises: HistoryTookTooLong."""
    seen = _within_sight(filters, principal)
    if seen is None or not seen.states:
        return ()
    parameters = _parameters(seen, principal)
    if seen.is_of_bets and seen.states & ENDED:
        return gathered(
            spans_back(seen.keys, now=now), partial(_rounds_of_bets, session, seen, parameters), limit=limit
        )
    is_indexed = seen.game_number is not None or not seen.states & ENDED
    spans = [seen.keys] if is_indexed else spans_back(seen.keys, now=now)
    jackpots = _jackpots(session, seen)

    def read(span: KeyRange, most: int) -> Sequence[FoundRound]:
        bounds = {jackpot_id: _bounds(span, seen, jackpot_id) for jackpot_id in jackpots}
        return _rounds_of_jackpots(session, question_of_rounds(seen), {**parameters, "limit": most}, bounds)[:most]

    return gathered(spans, read, limit=limit)


def _within_sight(filters: RoundFilters, principal: Principal) -> RoundFilters | None:
    """Narrow the filters to the casino and the table that a principal may see; None if they leave nothing."""
    if principal.casino_id is not None:
        if filters.casino_id not in {None, principal.casino_id}:
            return None
        filters = replace(filters, casino_id=principal.casino_id)
    if principal.table_ids and filters.table_id is None and len(principal.table_ids) == 1:
        filters = replace(filters, table_id=next(iter(principal.table_ids)))
    if principal.table_ids and filters.table_id is not None and filters.table_id not in principal.table_ids:
        return None
    return filters


def _parameters(filters: RoundFilters, principal: Principal) -> Mapping[str, Any]:
    return {
        "game_number": filters.game_number,
        "states": sorted(filters.states),
        "casino_id": filters.casino_id,
        "table_id": filters.table_id,
        "player_id": filters.player_id,
        "bet_id": filters.bet_id,
        "callers_tables": sorted(principal.table_ids) or None,
    }


def _jackpots(session: Session, filters: RoundFilters) -> Sequence[str]:
    """The jackpots that may have such rounds: those of the tables that are asked about."""
    if filters.jackpot_id is not None:
        return (filters.jackpot_id,)
    question = select(TableRow.jackpot_id).where(TableRow.jackpot_id.is_not(None)).distinct()
    if filters.table_id is not None:
        question = question.where(TableRow.table_id == filters.table_id)
    if filters.casino_id is not None:
        question = question.where(TableRow.casino_id == filters.casino_id)
    return [jackpot_id for jackpot_id in session.scalars(question) if jackpot_id is not None]


def _rounds_of_jackpots(
    session: Session, statement: str, parameters: Mapping[str, Any], bounds: Mapping[str, KeyRange]
) -> Sequence[FoundRound]:
    """Ask for the rounds of each jackpot by itself, within its bounds, and put them in order."""
    with pipelined(session) as pipe:
        cursors = [
            pipe.send(statement, {**parameters, "jackpot_id": jackpot_id, **keys._asdict()})
            for jackpot_id, keys in bounds.items()
        ]
    rounds = [_round_of(row) for cursor in cursors for row in cursor]
    return sorted(rounds, key=lambda round_: round_.position, reverse=True)


def question_of_rounds(filters: RoundFilters) -> str:
    """Write the question for a jackpot's rounds: what an index knows of them stands in it as plain conditions."""
    return _LISTED.replace("true", " AND ".join(_conditions(filters)) or "true", 1)


def _bounds(span: KeyRange, filters: RoundFilters, jackpot_id: str) -> KeyRange:
    """The keys of a span for a jackpot: of the key that the list goes on from, jackpots that come later are left."""
    after = filters.after
    if after is None or jackpot_id < after.jackpot_id:
        return span
    return KeyRange(span.first, min(span.end, after.round_key))


def _conditions(filters: RoundFilters) -> Sequence[str]:
    """Name what an index knows of the rounds; the rest is looked at in each."""
    if filters.game_number is not None and not filters.is_of_bets:
        return [_OF_NUMBER]
    if filters.states & ENDED:
        return [] if filters.table_id is None else [_LATEST_AT_TABLE]
    return [
        _NOT_ENDED,
        *([] if filters.table_id is None else [_AT_TABLE]),
        *([] if filters.casino_id is None else [_OF_CASINO]),
        *([_PLAYED] if filters.is_of_bets else []),
    ]


def _rounds_of_bets(
    session: Session, filters: RoundFilters, parameters: Mapping[str, Any], span: KeyRange, most: int
) -> Sequence[FoundRound]:
    """Start from the bets, of which an index knows the players and the ids."""
    after = filters.after or RoundPosition(LAST_KEY, "")
    bounds = {"jackpot_id": filters.jackpot_id, "before_key": after.round_key, "before_jackpot": after.jackpot_id}
    rows = session.execute(question_of_bets(filters), {**parameters, **bounds, **span._asdict(), "most": most})
    return [_round_of(row) for row in rows]


def question_of_bets(filters: RoundFilters) -> TextClause:
    """Write the question for rounds with a bet: the player, the bet's id, or both stand in it as plain conditions."""
    of_player = [] if filters.player_id is None else ["b.player_id = :player_id"]
    of_bet = [] if filters.bet_id is None else ["b.bet_id = :bet_id"]
    return text(_OF_BETS.replace("true", " AND ".join([*of_player, *of_bet]), 1)).bindparams(edge("first"), edge("end"))


def _round_of(row: Sequence[Any]) -> FoundRound:
    jackpot_id, round_key, casino_id, table_id, round_id, state, *rest = row
    return FoundRound(jackpot_id, round_key, casino_id, table_id, round_id, RoundState(state), *rest)
