"""The bets' rows and their voids. A bet is written once; that it is void is a row of its own."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.rounds import Round

# Columns travel as one text each, joined by spaces, which no id, currency or number holds: the driver's own encoding
# of arrays costs more than everything else that is done to a bet. The one column that may lack values is an array; if
# it lacks all, it is null, and the rows are filled up with nulls.
_ADD = """
INSERT INTO bets (jackpot_id, round_key, bet_id, step, player_id, hand, currency, stake_minor, occurred_at)
SELECT %(jackpot_id)s, %(round_key)s::bigint, bet_id, %(step)s::int, player_id, hand, currency, stake_minor,
       occurred_at
FROM unnest(string_to_array(%(bet_ids)s, ' '), string_to_array(%(player_ids)s, ' '),
            string_to_array(%(hands)s, ' '), string_to_array(%(currencies)s, ' '),
            string_to_array(%(stakes_minor)s, ' ')::bigint[], %(occurred_at)s::timestamptz[])
     AS new (bet_id, player_id, hand, currency, stake_minor, occurred_at)
"""

_BOOKED = """
SELECT b.bet_id, b.player_id, b.hand, b.currency, b.stake_minor, b.occurred_at, b.step, v.step
FROM bets b
LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
WHERE b.jackpot_id = %(jackpot_id)s
  AND b.round_key = (SELECT r.round_key FROM rounds r
                     WHERE r.jackpot_id = %(jackpot_id)s AND r.table_id = %(table_id)s AND r.round_id = %(round_id)s)
"""

_OF_ROUND = f"{_BOOKED} ORDER BY b.bet_id"

_OF_BATCH = f"""{_BOOKED}
  AND (b.bet_id = ANY(string_to_array(%(bet_ids)s, ' ')) OR b.player_id = ANY(string_to_array(%(player_ids)s, ' ')))
ORDER BY b.bet_id
"""

_TOMBSTONES = """
SELECT v.bet_id, v.step
FROM voids v
WHERE v.jackpot_id = %(jackpot_id)s AND v.is_tombstone
  AND v.round_key = (SELECT r.round_key FROM rounds r
                     WHERE r.jackpot_id = %(jackpot_id)s AND r.table_id = %(table_id)s AND r.round_id = %(round_id)s)
ORDER BY v.bet_id
"""

_ADD_VOIDS = """
INSERT INTO voids (jackpot_id, round_key, bet_id, step, is_tombstone)
SELECT %(jackpot_id)s, %(round_key)s::bigint, bet_id, %(step)s::int, is_tombstone
FROM unnest(%(bet_ids)s::text[], %(is_tombstone)s::bool[]) AS new (bet_id, is_tombstone)
"""

_PLACES = """
SELECT step, stripe_no, seq FROM entries WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s ORDER BY step
"""


@dataclass(frozen=True, slots=True)
class BookedBet:
    """A bet as the books hold it: the step of its round that accepted it, and the one that made it void, if any."""

    bet: Bet
    step: int
    void_step: int | None

    @property
    def is_void(self) -> bool:
        """Whether it was made void."""
        return self.void_step is not None


def add(pipe: Pipeline, round_: Round, bets: Sequence[Bet]) -> None:
    """Write accepted bets, in the order of their ids, by the round's current step."""
    ordered = sorted(bets, key=lambda bet: bet.bet_id)
    occurred_at = [bet.occurred_at for bet in ordered]
    pipe.send(
        _ADD,
        {
            "jackpot_id": round_.jackpot_id,
            "round_key": round_.round_key,
            "step": round_.steps,
            "bet_ids": " ".join(bet.bet_id for bet in ordered),
            "player_ids": " ".join(bet.player_id for bet in ordered),
            "hands": " ".join(bet.hand for bet in ordered),
            "currencies": " ".join(bet.currency for bet in ordered),
            "stakes_minor": " ".join(str(bet.stake_minor) for bet in ordered),
            "occurred_at": occurred_at if any(occurred_at) else None,
        },
    )


def send_of_round(pipe: Pipeline, *, jackpot_id: str, table_id: str, round_id: str) -> psycopg.Cursor[Any]:
    """Send the question for all bets of a round; `booked_of` reads the answer."""
    return pipe.send(_OF_ROUND, {"jackpot_id": jackpot_id, "table_id": table_id, "round_id": round_id})


def send_of_batch(
    pipe: Pipeline, bets: Sequence[Bet], *, jackpot_id: str, table_id: str, round_id: str
) -> psycopg.Cursor[Any]:
    """Send the question for a round's bets that a batch may meet: of the same ids, or of the same players."""
    return pipe.send(
        _OF_BATCH,
        {
            "jackpot_id": jackpot_id,
            "table_id": table_id,
            "round_id": round_id,
            "bet_ids": " ".join(bet.bet_id for bet in bets),
            "player_ids": " ".join(bet.player_id for bet in bets),
        },
    )


def booked_of(cursor: psycopg.Cursor[Any]) -> tuple[BookedBet, ...]:
    """Read the answer, in the order of bet ids."""
    return tuple(BookedBet(Bet(*row[:6]), row[6], row[7]) for row in cursor)


def live(booked: Collection[BookedBet]) -> tuple[Bet, ...]:
    """The bets that are not void."""
    return tuple(one.bet for one in booked if not one.is_void)


def send_tombstones(pipe: Pipeline, *, jackpot_id: str, table_id: str, round_id: str) -> psycopg.Cursor[Any]:
    """Send the question for a round's voids that came before their bets; `tombstones_of` reads the answer."""
    return pipe.send(_TOMBSTONES, {"jackpot_id": jackpot_id, "table_id": table_id, "round_id": round_id})


def tombstones_of(cursor: psycopg.Cursor[Any]) -> dict[str, int]:
    """Read the answer: the step of each tombstone."""
    return dict(cursor.fetchall())


def add_voids(pipe: Pipeline, round_: Round, *, voided: Collection[str], tombstones: Collection[str]) -> None:
    """Write voids of booked bets and tombstones of unknown ones, by the round's current step."""
    pipe.send(
        _ADD_VOIDS,
        {
            "jackpot_id": round_.jackpot_id,
            "round_key": round_.round_key,
            "step": round_.steps,
            "bet_ids": [*sorted(voided), *sorted(tombstones)],
            "is_tombstone": [False] * len(voided) + [True] * len(tombstones),
        },
    )


def send_places(pipe: Pipeline, round_: Round) -> psycopg.Cursor[Any]:
    """Send the question where a round's entries stand; `places_of` reads the answer."""
    return pipe.send(_PLACES, {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key})


def places_of(cursor: psycopg.Cursor[Any]) -> dict[int, tuple[int, int]]:
    """Read the answer: for each step, the stripe and the seq of its entry."""
    return {step: (stripe_no, seq) for step, stripe_no, seq in cursor}
