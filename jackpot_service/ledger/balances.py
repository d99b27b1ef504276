"""What an account of a jackpot's book holds, at positions of its stripes."""

from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.connections import PLANNED_ANEW
from jackpot_service.db import Session
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
    bounds = {"since": list(since), "positions": list(positions)}
    found: Decimal | None = session.scalar(_SUM, {"book": book, "account": account, "currency": currency, **bounds})
    return found or ZERO
