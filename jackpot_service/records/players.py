"""A player's bets with their rounds, the latest first: searched for in the bets of one span of time after another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

import psycopg
from sqlalchemy import BigInteger, BindParameter, ColumnElement, Row, and_, bindparam, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import InstrumentedAttribute

from jackpot_service.database.each_jackpot import by_jackpot, rows_of_each
from jackpot_service.database.failures import is_held_up
from jackpot_service.database.transactions import Session
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import LAST_KEY, KeyRange, RoundState, spans_back

T = TypeVar("T")


def edge(name: str, value: int | None = None) -> BindParameter[int]:
    """
    Name an edge of a span, which is written into the statement: so its plan has the partitions of the span only.

    The service's plans are made for whatever values may come. One for any span at all would prefer another index.
    """
    return bindparam(name, value, BigInteger, literal_execute=True, unique=value is not None)


def within(column: InstrumentedAttribute[int], span: KeyRange) -> ColumnElement[bool]:
    """The condition that a key lies in a span, for a statement that is planned for this span."""
    return and_(column >= edge("first", span.first), column < edge("end", span.end))


# The rows of a bet are looked up for each by itself: a join could read all rounds.
_BETS: Final = text("""
SELECT b.jackpot_id, b.round_key, b.bet_id, b.step, b.player_id, b.hand, b.currency, b.stake_minor, b.occurred_at,
       r.table_id, r.round_id, r.casino_id, r.state, r.opened_at, r.game_number
FROM bets b
CROSS JOIN LATERAL (
    SELECT o.table_id, o.round_id, o.casino_id, o.state, o.opened_at, o.game_number
    FROM rounds o
    WHERE o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key
    LIMIT 1
) AS r
WHERE b.player_id = :player_id AND b.round_key >= :first AND b.round_key < :end
  AND (b.round_key, b.bet_id) < (:before_key, :before_bet)
  AND (CAST(:jackpot_id AS text) IS NULL OR b.jackpot_id = :jackpot_id)
  AND (CAST(:casino_id AS text) IS NULL OR r.casino_id = :casino_id)
  AND (CAST(:callers_casino AS text) IS NULL OR r.casino_id = :callers_casino)
ORDER BY b.round_key DESC, b.bet_id DESC
LIMIT :most
""").bindparams(edge("first"), edge("end"))

_BOOKED: Final = """
SELECT %(jackpot_id)s::text, k.round_key, k.bet_id, entry.received_at, entry.booked_at, void.bet_id IS NOT NULL
FROM unnest(%(round_keys)s::bigint[], %(steps)s::int[], %(bet_ids)s::text[]) AS k (round_key, step, bet_id)
CROSS JOIN LATERAL (
    SELECT e.received_at, e.booked_at
    FROM entries e
    WHERE e.jackpot_id = %(jackpot_id)s AND e.round_key = k.round_key AND e.step = k.step
    LIMIT 1
) AS entry
LEFT JOIN LATERAL (
    SELECT v.bet_id
    FROM voids v
    WHERE v.jackpot_id = %(jackpot_id)s AND v.round_key = k.round_key AND v.bet_id = k.bet_id
    LIMIT 1
) AS void ON true
"""


class HistoryTookTooLong(Unavailable, code="history-took-too-long", title="The search took too long"):
    """The books hold more of that time than can be searched while somebody waits."""


class BetPosition(NamedTuple):
    """Where a bet stands in the list of a player's: the latest rounds come first."""

    round_key: int
    bet_id: str


@dataclass(frozen=True, slots=True)
class PlayedBet:
    """A bet with its round, whether it is void, and when it came and was booked."""

    jackpot_id: str
    casino_id: str
    table_id: str
    round_id: str
    state: RoundState
    opened_at: datetime
    game_number: str | None
    bet: Bet
    is_void: bool
    received_at: datetime
    booked_at: datetime
    position: BetPosition


@dataclass(frozen=True, slots=True)
class BetFilters:
    """
    Which bets of a player to list: None stands for all. `after` is the position of the last one before.

    `start` is included and `end` is not; both are of the rounds' opening, and cut to milliseconds.
    """

    jackpot_id: str | None = None
    casino_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    after: BetPosition | None = None

    @property
    def keys(self) -> KeyRange:
        """The keys of the rounds that they leave."""
        return KeyRange.between(self.start, self.end, upto=None if self.after is None else self.after.round_key)


def latest_bets(
    session: Session, principal: Principal, player_id: str, filters: BetFilters, *, limit: int, now: datetime
) -> Sequence[PlayedBet]:
    """
    List the bets of a player that a principal may see, those of the latest rounds first.

    Raises: HistoryTookTooLong.
    """
    before = filters.after or BetPosition(LAST_KEY, "")
    parameters = {
        "player_id": player_id,
        "jackpot_id": filters.jackpot_id,
        "casino_id": filters.casino_id,
        "callers_casino": principal.casino_id,
        "before_key": before.round_key,
        "before_bet": before.bet_id,
    }

    def read(span: KeyRange, most: int) -> Sequence[PlayedBet]:
        rows = session.execute(_BETS, {**parameters, **span._asdict(), "most": most}).all()
        booked = _booked(session, rows)
        return [_played(row, booked[key]) for row in rows if (key := _key(row)) in booked]

    return gathered(spans_back(filters.keys, now=now), read, limit=limit)


def gathered(spans: Iterable[KeyRange], read: Callable[[KeyRange, int], Sequence[T]], *, limit: int) -> Sequence[T]:
    """Read what is asked about in one span after another, until there is enough. Raises: HistoryTookTooLong."""
    items: list[T] = []
    try:
        for span in spans:
            items += read(span, limit - len(items))
            if len(items) == limit:
                break
    except (DBAPIError, psycopg.Error) as error:
        if not is_held_up(error):
            raise
        message = "To search so long a time took too long. Ask about a shorter one, or again later."
        raise HistoryTookTooLong(message) from error
    return items


class _Booked(NamedTuple):
    """When a bet came and was booked, and whether it is void."""

    received_at: datetime
    booked_at: datetime
    is_void: bool


def _key(row: Row[Any]) -> tuple[str, int, str]:
    return row.jackpot_id, row.round_key, row.bet_id


def _booked(session: Session, rows: Sequence[Row[Any]]) -> Mapping[tuple[str, int, str], _Booked]:
    """Look up how bets were booked, by their keys: each jackpot's by themselves."""
    questions = (
        {
            "jackpot_id": jackpot_id,
            "round_keys": [row.round_key for row in of_jackpot],
            "steps": [row.step for row in of_jackpot],
            "bet_ids": [row.bet_id for row in of_jackpot],
        }
        for jackpot_id, of_jackpot in by_jackpot(rows, attrgetter("jackpot_id")).items()
    )
    return {row[:3]: _Booked(*row[3:]) for row in rows_of_each(session, _BOOKED, questions)}


def _played(row: Row[Any], booked: _Booked) -> PlayedBet:
    return PlayedBet(
        jackpot_id=row.jackpot_id,
        casino_id=row.casino_id,
        table_id=row.table_id,
        round_id=row.round_id,
        state=RoundState(row.state),
        opened_at=row.opened_at,
        game_number=row.game_number,
        bet=Bet(row.bet_id, row.player_id, row.hand, row.currency, row.stake_minor, row.occurred_at),
        is_void=booked.is_void,
        received_at=booked.received_at,
        booked_at=booked.booked_at,
        position=BetPosition(row.round_key, row.bet_id),
    )
