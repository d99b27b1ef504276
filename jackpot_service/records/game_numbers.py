"""Rounds found by their game number: what the table showed its players, which is not unique as a round's id is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import LAST_KEY, RoundState, first_key_at

# In the words of the only index that finds them, `ix_rounds_game_number`, at one jackpot after another: there are few.
_FOUND = """
SELECT found.*
FROM jackpots j
CROSS JOIN LATERAL (
    SELECT jackpot_id, round_key, casino_id, table_id, round_id, state, opened_at, game_number
    FROM rounds
    WHERE jackpot_id = j.jackpot_id AND by_index(game_number) = %(game_number)s AND game_number IS NOT NULL
      AND round_key >= %(from_key)s AND round_key < %(to_key)s AND round_key <= %(before_key)s
      AND (round_key, jackpot_id) < (%(before_key)s, %(before_jackpot)s::text)
      AND (CAST(%(table_id)s AS text) IS NULL OR table_id = %(table_id)s)
      AND (CAST(%(casino_id)s AS text) IS NULL OR casino_id = %(casino_id)s)
      AND (CAST(%(callers_casino)s AS text) IS NULL OR casino_id = %(callers_casino)s)
    ORDER BY round_key DESC
    LIMIT %(limit)s
) AS found
WHERE (CAST(%(jackpot_id)s AS text) IS NULL OR j.jackpot_id = %(jackpot_id)s)
ORDER BY found.round_key DESC, found.jackpot_id DESC
LIMIT %(limit)s
"""


class RoundPosition(NamedTuple):
    """Where a round stands in a list over all jackpots: the latest comes first."""

    round_key: int
    jackpot_id: str


@dataclass(frozen=True, slots=True)
class FoundRound:
    """A round as a list of several jackpots names it."""

    jackpot_id: str
    round_key: int
    casino_id: str
    table_id: str
    round_id: str
    state: RoundState
    opened_at: datetime
    game_number: str

    @property
    def position(self) -> RoundPosition:
        """Where it stands in the list."""
        return RoundPosition(self.round_key, self.jackpot_id)


@dataclass(frozen=True, slots=True)
class RoundFilters:
    """
    Which rounds of a game number to list: None stands for all. `after` is the position of the last one before.

    `start` is included and `end` is not; both are of the rounds' opening, and cut to milliseconds.
    """

    game_number: str
    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    after: RoundPosition | None = None


def latest_rounds(session: Session, principal: Principal, filters: RoundFilters, *, limit: int) -> Sequence[FoundRound]:
    """List the rounds of a game number that a principal may see, the latest first."""
    before = filters.after or RoundPosition(LAST_KEY, "")
    asked = {
        "game_number": filters.game_number,
        "jackpot_id": filters.jackpot_id,
        "casino_id": filters.casino_id,
        "table_id": filters.table_id,
        "callers_casino": principal.casino_id,
        "from_key": 0 if filters.start is None else first_key_at(filters.start),
        "to_key": LAST_KEY if filters.end is None else first_key_at(filters.end),
        "before_key": before.round_key,
        "before_jackpot": before.jackpot_id,
        "limit": limit,
    }
    with pipelined(session) as pipe:
        cursor = pipe.send(_FOUND, asked)
    return [_found(row) for row in cursor]


def _found(row: tuple[Any, ...]) -> FoundRound:
    jackpot_id, round_key, casino_id, table_id, round_id, state, *rest = row
    return FoundRound(jackpot_id, round_key, casino_id, table_id, round_id, RoundState(state), *rest)
