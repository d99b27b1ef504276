"""What the books hold, read by plain SQL in one snapshot: nothing of the service's own code looks at them here."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg

from tests.chaos.calls import Bet, Hand, RoundName, bet_of

POOLS = ("pool:meter:players", "pool:meter:house", "pool:reserve", "pool:prize_fund")
LEAD_S = 3.0
"""Seconds by which a stripe may be beyond the database's clock: two are allowed, and one is for looking."""

Row = tuple[Any, ...]
Place = tuple[str, int]
"""Jackpot and round key: how the books themselves know a round."""


class BookedAward(NamedTuple):
    """An award as it is booked; `cost` is in the base currency."""

    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    is_held: bool


@dataclass(frozen=True, slots=True)
class BookedRound:
    """All that the books hold of a round."""

    name: RoundName
    jackpot_id: str
    casino_id: str
    state: str
    bets: Mapping[str, Bet] = field(default_factory=dict)
    voids: Mapping[str, bool] = field(default_factory=dict)
    """Ids of void bets; True for those that were void before they came."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why bets are void, of those of which somebody said so."""
    closed_with: int | None = None
    """The number of bets that its closing counts; None without a closing."""
    late: tuple[str, ...] = ()
    """Ids of bets that were booked after the closing."""
    bet_count: int | None = None
    """What the result counts; None without a result."""
    hands: tuple[Hand, ...] = ()
    reason: str | None = None
    """Why it was cancelled, if it was."""
    awards: Mapping[tuple[str, str], BookedAward] = field(default_factory=dict)
    meter_before: Decimal | None = None

    @property
    def live(self) -> tuple[Bet, ...]:
        """Return the bets that were accepted and not made void."""
        return tuple(bet for bet_id, bet in self.bets.items() if bet_id not in self.voids)


@dataclass(frozen=True, slots=True)
class Books:
    """
    Rounds by the caller's name, and what accounts and stripes hold over all jackpots.

    `doubled` are ids that stand more than once; `ahead` are stripes beyond the database's clock, with their times.
    """

    rounds: Mapping[RoundName, BookedRound]
    doubled: tuple[str, ...] = ()
    balances: Mapping[tuple[str, str, str], Decimal] = field(default_factory=dict)
    """By jackpot, account and currency."""
    stripes: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    """The sums of the stripes, by jackpot and pool."""
    ahead: Mapping[str, str] = field(default_factory=dict)


def read_rounds(url: str, names: Collection[RoundName]) -> Books:
    """Read some rounds."""
    with _snapshot(url) as connection:
        return _rounds(connection, names, lead_s=LEAD_S)


def read_all(url: str, *, lead_s: float = LEAD_S) -> Books:
    """Read every round, and what the accounts hold at the same instant; stripes may be ahead by `lead_s`."""
    with _snapshot(url) as connection:
        books = _rounds(connection, None, lead_s=lead_s)
        question = "SELECT jackpot_id, account, currency, sum(amount) FROM postings GROUP BY 1, 2, 3"
        balances = {
            (jackpot, account, currency): amount for jackpot, account, currency, amount in connection.execute(question)
        }
        question = """
        SELECT jackpot_id, sum(meter_players), sum(meter_house), sum(reserve), sum(prize_fund) FROM stripes GROUP BY 1
        """
        stripes = {
            (jackpot, pool): amount
            for jackpot, *amounts in connection.execute(question)
            for pool, amount in zip(POOLS, amounts, strict=True)
        }
    return Books(books.rounds, books.doubled, balances, stripes, books.ahead)


def _snapshot(url: str) -> psycopg.Connection[Row]:
    connection = psycopg.connect(url, connect_timeout=20)
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def _rounds(connection: psycopg.Connection[Row], names: Collection[RoundName] | None, *, lead_s: float) -> Books:
    chosen, parameters = "", dict[str, Any]()
    if names is not None:
        chosen = (
            "JOIN unnest(%(tables)s::text[], %(rounds)s::text[]) AS a (table_id, round_id) USING (table_id, round_id)"
        )
        parameters = {"tables": [name.table_id for name in names], "rounds": [name.round_id for name in names]}
    columns = "jackpot_id, round_key, table_id, round_id, casino_id, state"
    question = f"SELECT {columns} FROM rounds {chosen}"  # noqa: S608 -- our own words
    rows = connection.execute(question, parameters).fetchall()
    places: dict[Place, RoundName] = {(row[0], row[1]): RoundName(row[2], row[3]) for row in rows}
    keys = {"jackpots": sorted({place[0] for place in places}), "keys": [place[1] for place in places]}
    bets, doubled = _bets(connection, keys, places)
    voids = _grouped(connection, _of("voids", "bet_id, is_tombstone"), keys, places)
    reasons = _grouped(connection, _REASONS, keys, places)
    closings = _grouped(connection, _CLOSINGS, keys, places)
    late = _grouped(connection, _LATE, keys, places)
    results = _grouped(connection, _of("results", "bet_count"), keys, places)
    hands = _grouped(connection, _of("hands", "hand, status, cards"), keys, places)
    cancelled = _grouped(connection, _of("cancellations", "reason"), keys, places)
    awards = _grouped(connection, _AWARDS, keys, places)
    settled = _grouped(connection, _of("settlements", "meter_before"), keys, places)
    by_name = {}
    for jackpot_id, round_key, table_id, round_id, casino_id, state in rows:
        place = (jackpot_id, round_key)
        by_name[places[place]] = BookedRound(
            RoundName(table_id, round_id),
            jackpot_id,
            casino_id,
            state,
            bets=bets.get(place, {}),
            voids=dict(voids.get(place, ())),
            reasons=dict(reasons.get(place, ())),
            closed_with=next((count for (count,) in closings.get(place, ())), None),
            late=tuple(bet_id for (bet_id,) in late.get(place, ())),
            bet_count=next((count for (count,) in results.get(place, ())), None),
            hands=tuple(Hand(hand, status, tuple(cards)) for hand, status, cards in hands.get(place, ())),
            reason=next((reason for (reason,) in cancelled.get(place, ())), None),
            awards={(bet_id, tier): BookedAward(*award) for bet_id, tier, *award in awards.get(place, ())},
            meter_before=next((meter for (meter,) in settled.get(place, ())), None),
        )
    twice = [f"round {name}" for name, count in Counter(places.values()).items() if count > 1]
    twice += [f"closing of {places[place]}" for place, rows in closings.items() if len(rows) > 1]
    return Books(by_name, doubled=(*twice, *doubled), ahead=_ahead(connection, lead_s))


def _of(table: str, columns: str) -> str:
    return f"""
    SELECT jackpot_id, round_key, {columns} FROM {table}
    WHERE jackpot_id = ANY(%(jackpots)s) AND round_key = ANY(%(keys)s)
    """  # noqa: S608 -- our own words


_CLOSINGS = """
SELECT jackpot_id, round_key, (facts ->> 'bet_count')::int FROM entries
WHERE kind = 'closing' AND jackpot_id = ANY(%(jackpots)s) AND round_key = ANY(%(keys)s)
"""

_LATE = """
SELECT b.jackpot_id, b.round_key, b.bet_id FROM entries e JOIN bets b USING (jackpot_id, round_key)
WHERE e.kind = 'closing' AND b.step > e.step AND jackpot_id = ANY(%(jackpots)s) AND round_key = ANY(%(keys)s)
"""

_REASONS = """
SELECT jackpot_id, round_key, v.bet_id, e.facts ->> 'reason'
FROM voids v JOIN entries e USING (jackpot_id, round_key, step)
WHERE e.facts ->> 'reason' IS NOT NULL AND jackpot_id = ANY(%(jackpots)s) AND round_key = ANY(%(keys)s)
"""

_AWARDS = """
SELECT jackpot_id, round_key, bet_id, tier, amount_minor, currency, cost, funded_by, EXISTS (
    SELECT FROM award_steps s
    WHERE (s.jackpot_id, s.round_key, s.bet_id, s.tier) = (a.jackpot_id, a.round_key, a.bet_id, a.tier)
    AND s.step = 'held'
)
FROM awards a WHERE jackpot_id = ANY(%(jackpots)s) AND round_key = ANY(%(keys)s)
"""


def _grouped(
    connection: psycopg.Connection[Row], question: str, keys: Mapping[str, Any], places: Mapping[Place, RoundName]
) -> dict[Place, list[Row]]:
    """Read rows of rounds, each under its round."""
    rows_: dict[Place, list[Row]] = {}
    for jackpot_id, round_key, *row in connection.execute(question, keys):
        if (jackpot_id, round_key) in places:
            rows_.setdefault((jackpot_id, round_key), []).append(tuple(row))
    return rows_


def _bets(
    connection: psycopg.Connection[Row], keys: Mapping[str, Any], places: Mapping[Place, RoundName]
) -> tuple[dict[Place, dict[str, Bet]], list[str]]:
    question = _of("bets", "bet_id, player_id, hand, currency, stake_minor")
    by_place: dict[Place, dict[str, Bet]] = {}
    doubled = []
    for place, rows in _grouped(connection, question, keys, places).items():
        bets = by_place[place] = {bet.bet_id: bet for bet in (bet_of(*row) for row in rows)}
        if len(bets) < len(rows):
            doubled += [f"bet {bet_id} of {places[place]}" for bet_id, n in _counted(row[0] for row in rows) if n > 1]
    return by_place, doubled


def _counted(ids: Iterable[str]) -> Iterable[tuple[str, int]]:
    return Counter(ids).items()


def _ahead(connection: psycopg.Connection[Row], lead_s: float) -> dict[str, str]:
    question = """
    SELECT jackpot_id, max(booked_at)::text FROM stripes
    WHERE booked_at > clock_timestamp() + make_interval(secs => %s) GROUP BY 1
    """
    return dict(connection.execute(question, [lead_s]).fetchall())
