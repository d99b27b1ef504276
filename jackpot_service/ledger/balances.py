"""What an account of a jackpot's book holds, at positions of its stripes."""

from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.connections import PLANNED_ANEW
from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import POOL_ACCOUNTS, Pools
from jackpot_service.domain.money import ZERO

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

    It may read much: the rest of the transaction is planned, and given time, as a report is.
    """
    session.execute(text(f"SET LOCAL statement_timeout = '{LONGEST_SUM}'"))
    for name, usual in PLANNED_ANEW.items():
        session.execute(text(f"SET LOCAL {name} = {usual}"))
    return summed_between(session, book, account, currency, since=since, positions=positions)


def summed_between(
    session: Session, book: str, account: str, currency: str, *, since: Sequence[int], positions: Sequence[int]
) -> Decimal:
    """As `moved_between`, for a session that has time and plans anew already, such as a snapshot."""
    bounds = {"since": list(since), "positions": list(positions)}
    found: Decimal | None = session.scalar(_SUM, {"book": book, "account": account, "currency": currency, **bounds})
    return found or ZERO
