"""The contents of a jackpot's books: its pools and its running cycle at one instant, its accounts at any positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.connections import PLANNED_ANEW
from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, is_snapshot, pipelined
from jackpot_service.domain.accounts import METER_HOUSE, POOL_ACCOUNTS, Pools
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger.cycles import Cycle

# One statement sees one instant of all stripes and of the cycles; two could stand on both sides of a hit.
_READ = """
SELECT held.*, running.cycle, running.rules_version, running.cut,
       (SELECT max(v.version) FROM rules_versions v WHERE v.jackpot_id = %(jackpot_id)s)
FROM (SELECT sum(meter_players), sum(meter_house), sum(reserve), sum(prize_fund), array_agg(seq ORDER BY stripe_no),
             max(booked_at), bool_and(accepting), max(limits_version)
      FROM stripes
      WHERE jackpot_id = %(jackpot_id)s) AS held,
     (SELECT cycle, rules_version, cut
      FROM cycles
      WHERE jackpot_id = %(jackpot_id)s
      ORDER BY cycle DESC
      LIMIT 1) AS running
"""

# The opening is the first entry of stripe 0, and the house's seed is all that it books.
_BASE_AMOUNT = """
SELECT coalesce(sum(amount), 0) FROM postings
WHERE jackpot_id = %(jackpot_id)s AND stripe_no = 0 AND seq = 1 AND account = %(account)s
"""


@dataclass(frozen=True, slots=True)
class Books:
    """
    The contents of a jackpot's stripes together, at one instant.

    `positions` are the stripes' seqs in the order of their numbers; `booked_at` is the last movement's time.
    `limits_version` is that of the limits of its tables.
    """

    pools: Pools
    positions: tuple[int, ...]
    booked_at: datetime
    is_accepting: bool
    limits_version: int
    cycle: Cycle


def send_read(pipe: Pipeline, jackpot_id: str) -> Cursor:
    """
    Send the question for a jackpot's books; `books_of` reads the answer.

    After a lock of all stripes, the answer stays true until the commit; after the lock of one, its cycle does, since a
    hit holds all.
    """
    return pipe.send(_READ, {"jackpot_id": jackpot_id})


def base_amount(session: Session, jackpot_id: str) -> Decimal:
    """Read what a jackpot's first cycle was started with."""
    with pipelined(session) as pipe:
        cursor = pipe.send(_BASE_AMOUNT, {"jackpot_id": jackpot_id, "account": METER_HOUSE})
    return next(_plain_zero(amount) for (amount,) in cursor)


def books_of(cursor: Cursor) -> Books:
    """Read the answer. The jackpot must exist; it has stripes and a cycle from its opening."""
    row = cursor.fetchone()
    if row is None:
        message = "A jackpot without a cycle: it was not opened by this service."
        raise LookupError(message)
    positions, booked_at, is_accepting, limits_version, cycle, rules_version, cut, following_version = row[4:]
    return Books(
        Pools(*map(_plain_zero, row[:4])),
        tuple(positions),
        booked_at,
        is_accepting,
        limits_version,
        Cycle(cycle, rules_version, tuple(cut), following_version),
    )


def _plain_zero(amount: Decimal) -> Decimal:
    """A sum of zeros comes back with a scale; equality does not mind, but texts would."""
    return amount or ZERO


LONGEST_SUM = "60s"
"""How long a sum over years of entries may take. It holds no lock that bets need."""

_SUM = text(
    """
    SELECT sum(p.amount)
    FROM entries e
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts) AS p (account, currency, amount)
    WHERE e.jackpot_id = :book
      AND e.seq > coalesce((CAST(:since AS bigint[]))[e.stripe_no + 1], 0)
      AND e.seq <= coalesce((CAST(:positions AS bigint[]))[e.stripe_no + 1], 0)
      AND e.accounts @> ARRAY[CAST(:account AS text)]
      AND p.account = :account AND p.currency = :currency
    """
)

_POOLS = text(
    """
    SELECT p.account, sum(p.amount)
    FROM entries e
    CROSS JOIN LATERAL unnest(e.accounts, e.amounts) AS p (account, amount)
    WHERE e.jackpot_id = :book AND e.stripe_no = :stripe_no AND e.seq > :after AND e.seq <= :upto
      AND p.account = ANY (:pools) AND scale(p.amount) <= 18 AND abs(p.amount) < 1e20
    GROUP BY p.account
    """
)


def pools_between(session: Session, book: str, stripe_no: int, *, after: int, upto: int) -> Pools:
    """Sum what a stripe's entries after one seq, up to another, put into each pool; see `BookedEntry.pools`."""
    if after >= upto:
        return Pools()
    parameters = {"book": book, "stripe_no": stripe_no, "after": after, "upto": upto, "pools": list(POOL_ACCOUNTS)}
    sums: dict[str, Decimal] = {row.account: row.sum for row in session.execute(_POOLS, parameters)}
    return Pools(*(sums.get(pool, ZERO) for pool in POOL_ACCOUNTS))


def moved_between(
    session: Session, book: str, account: str, currency: str, *, since: Sequence[int], positions: Sequence[int]
) -> Decimal:
    """
    Sum what entries put into an account: those after one vector of positions, up to another.

    It may read much: the rest of the transaction is planned, and given time, as a report is. A snapshot keeps the time
    that it has: beyond it nobody waits for the answer any more.
    """
    if not is_snapshot(session):
        session.execute(text(f"SET LOCAL statement_timeout = '{LONGEST_SUM}'"))
    for name, usual in PLANNED_ANEW.items():
        session.execute(text(f"SET LOCAL {name} = {usual}"))
    return summed_between(session, book, account, currency, since=since, positions=positions)


def summed_between(
    session: Session, book: str, account: str, currency: str, *, since: Sequence[int], positions: Sequence[int]
) -> Decimal:
    """As `moved_between`, for a session that has time and plans anew already, such as a snapshot."""
    bounds = {"since": list(since), "positions": list(positions)}
    total: Decimal | None = session.scalar(_SUM, {"book": book, "account": account, "currency": currency, **bounds})
    return total or ZERO
