"""What entries posted, read from each of them, and under which rules version: what documents are held against."""

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand
from jackpot_service.reports.finance.side_sums import Side, Sum

_BOOKED = text(
    """
    WITH corrected AS (
        SELECT f.seq, r.rules_version
        FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
        JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = f.round_key
        WHERE f.kind = 'round_corrected'
    )
    SELECT coalesce(r.rules_version, c.rules_version), p.account, p.currency, p.movement, sum(p.amount)
    FROM entries_between(
        :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    ) AS e
    LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    LEFT JOIN corrected c ON e.stripe_no = 0 AND c.seq = e.seq
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS p (account, currency, amount, movement)
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    """
)


def sums(session: Session, stand: Stand) -> list[Sum]:
    """Sum the postings of a part, entry by entry: it reads them all, and no sum that was kept."""
    return [
        Sum(Side.JOURNAL, version, Account(account), currency, Movement(movement), amount)
        for version, account, currency, movement, amount in session.execute(_BOOKED, parts.bounds(stand))
    ]
