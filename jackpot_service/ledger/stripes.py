"""
A jackpot's stripes: reading what they hold together, and locking them.

Only sums over all stripes have a meaning. One statement reads a consistent vector of them; what must not change until
the commit is read in a second statement, after the lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.pools import Pools
from jackpot_service.ledger.digests import first_head

_READ = """
SELECT coalesce(sum(meter_players), 0), coalesce(sum(meter_house), 0), coalesce(sum(reserve), 0),
       coalesce(sum(prize_fund), 0), array_agg(seq ORDER BY stripe_no), max(booked_at)
FROM stripes
WHERE jackpot_id = %(jackpot_id)s
"""

_LOCK_ONE = """
SELECT stripe_no FROM stripes WHERE jackpot_id = %(jackpot_id)s AND stripe_no = %(stripe_no)s FOR NO KEY UPDATE
"""

_LOCK_OTHERS = """
SELECT stripe_no FROM stripes WHERE jackpot_id = %(jackpot_id)s AND stripe_no > 0
ORDER BY stripe_no FOR NO KEY UPDATE
"""

_ADD = """
INSERT INTO stripes (jackpot_id, stripe_no, seq, head, meter_players, meter_house, reserve, prize_fund, accepting,
                     booked_at)
SELECT %(jackpot_id)s, stripe_no, 0, head, 0, 0, 0, 0, true, %(now)s
FROM unnest(%(stripe_nos)s::int[], %(heads)s::bytea[]) AS new (stripe_no, head)
"""


@dataclass(frozen=True, slots=True)
class Books:
    """
    What a jackpot's stripes hold together, at one instant.

    `positions` are the stripes' seqs in the order of their numbers: the vector that names the instant.
    """

    pools: Pools
    positions: tuple[int, ...]
    booked_at: datetime


def read(pipe: Pipeline, jackpot_id: str) -> psycopg.Cursor[Any]:
    """Send the question for a jackpot's books; `books_of` reads the answer."""
    return pipe.send(_READ, {"jackpot_id": jackpot_id})


def books_of(cursor: psycopg.Cursor[Any]) -> Books:
    """Read the answer to `read`. The jackpot must exist: it has stripes from its opening."""
    row = cursor.fetchone()
    if row is None or row[4] is None:
        raise LookupError(cursor.query if hasattr(cursor, "query") else "stripes")
    *amounts, positions, booked_at = row
    return Books(Pools(*map(_plain_zero, amounts)), tuple(positions), booked_at)


def _plain_zero(amount: Decimal) -> Decimal:
    """A sum of zeros comes back with a scale; equality does not mind, but texts would."""
    return amount or ZERO


def lock_one(pipe: Pipeline, jackpot_id: str, stripe_no: int) -> None:
    """Lock one stripe until the commit: no hit can happen meanwhile, since a hit holds all."""
    pipe.send(_LOCK_ONE, {"jackpot_id": jackpot_id, "stripe_no": stripe_no})


def lock_all(pipe: Pipeline, jackpot_id: str) -> None:
    """
    Lock all stripes until the commit, stripe 0 first, then in a second statement the others in order.

    Whoever adds a stripe holds stripe 0, so the second statement sees every stripe there is.
    """
    lock_one(pipe, jackpot_id, 0)
    pipe.send(_LOCK_OTHERS, {"jackpot_id": jackpot_id})


def add(pipe: Pipeline, jackpot_id: str, *, stripe_nos: Sequence[int], now: datetime) -> None:
    """Add empty stripes to a jackpot."""
    heads = [first_head(jackpot_id, stripe_no) for stripe_no in stripe_nos]
    pipe.send(_ADD, {"jackpot_id": jackpot_id, "stripe_nos": list(stripe_nos), "heads": heads, "now": now})
