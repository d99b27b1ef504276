"""Writing entries: the one statement that books, and the one place that changes a pool."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.money import plain
from jackpot_service.ledger.digests import digest

# The stripe's row lock is held from here to the commit, so its `seq` is dense and in commit order. The clock is a
# parameter; an entry is never booked before the one that stands before it. The postings' columns travel as texts joined
# by spaces, which no account, currency, amount or movement holds. A stripe that does not accept leaves `seq` null, and
# an entry's cannot be: so the whole transaction fails, also where its commit is already on the way.
_POST = """
WITH stripe AS (
    UPDATE stripes
    SET seq = seq + 1,
        head = sha256(head || %(digest)s
                      || int8send((extract(epoch FROM greatest(booked_at, %(received_at)s)) * 1000000)::bigint)),
        meter_players = meter_players + %(meter_players)s,
        meter_house = meter_house + %(meter_house)s,
        reserve = reserve + %(reserve)s,
        prize_fund = prize_fund + %(prize_fund)s,
        booked_at = greatest(booked_at, %(received_at)s)
    WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s AND (accepting OR NOT %(if_accepting)s)
    RETURNING seq, head, booked_at
)
INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at, digest,
                     head, accounts, currencies, amounts, movements)
SELECT %(book)s, %(stripe_no)s, stripe.seq, %(kind)s, %(principal)s, %(round_key)s::bigint, %(step)s::int,
       %(received_at)s, stripe.booked_at, %(digest)s, stripe.head, string_to_array(%(accounts)s, ' '),
       string_to_array(%(currencies)s, ' '), string_to_array(%(amounts)s, ' ')::numeric[],
       string_to_array(%(movements)s, ' ')
FROM (SELECT) AS always
LEFT JOIN stripe ON true
RETURNING seq
"""


class JackpotSuspended(Conflict):
    """The jackpot takes no bets now."""

    code = "jackpot-suspended"
    title = "The jackpot is suspended"


@contextmanager
def refused_if_suspended(jackpot_id: str) -> Iterator[None]:
    """Stand around a pipeline that posts `if_accepting`. Raises: JackpotSuspended if the stripe did not accept."""
    try:
        yield
    except psycopg.errors.NotNullViolation as error:
        if (error.diag.table_name, error.diag.column_name) != ("entries", "seq"):
            raise
        message = f"Jackpot {jackpot_id} takes no bets now."
        raise JackpotSuspended(message, jackpot_id=jackpot_id) from None


def post(pipe: Pipeline, entry: Entry, *, stripe_no: int, if_accepting: bool = False) -> psycopg.Cursor[Any]:
    """
    Book an entry on a stripe, whose lock is held from then to the commit: so it is the last statement of its act.

    With `if_accepting`, a stripe whose jackpot is suspended does not take it; see `refused_if_suspended`. The cursor
    tells the entry's seq.
    """
    pools = entry.postings.pools()
    lines = entry.postings.lines
    step = entry.round_step
    return pipe.send(
        _POST,
        {
            "book": entry.book,
            "stripe_no": stripe_no,
            "if_accepting": if_accepting,
            "kind": entry.kind.value,
            "principal": entry.principal,
            "round_key": None if step is None else step.round_key,
            "step": None if step is None else step.step,
            "received_at": entry.received_at,
            "digest": digest(entry),
            "meter_players": pools.meter_players,
            "meter_house": pools.meter_house,
            "reserve": pools.reserve,
            "prize_fund": pools.prize_fund,
            "accounts": " ".join(line.account for line in lines),
            "currencies": " ".join(line.currency for line in lines),
            "amounts": " ".join(plain(line.amount) for line in lines),
            "movements": " ".join(line.movement.value for line in lines),
        },
    )
