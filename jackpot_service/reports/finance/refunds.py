"""What was refunded, and what corrections booked again, as the documents say: for those who compare them with books."""

from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand


@dataclass(frozen=True, slots=True)
class RefundOf:
    """
    Stakes of one rules version, casino and currency that went back, or (`is_again`) were booked again by a correction.

    `is_over` tells whether the cycle of the bets had been won when that was.
    """

    version: int
    casino_id: str
    currency: str
    is_again: bool
    is_over: bool
    stakes: Decimal
    value: Decimal


# What each entry refunded is looked up by its round, in one of three places. A bet's cycle had been won when it was
# refunded if it stands at or before the cut of the cycle that then ran: the last one that the refund stands after. Each
# bet is looked up with all that belongs to it (LIMIT): few are refunded.
_BY_VERSION = text(
    """
    WITH told AS (
        SELECT e.stripe_no, e.seq, e.round_key, refunded.bet_id, 1 AS times
        FROM entries_between(
            :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
        ) AS e
        CROSS JOIN LATERAL (
            SELECT v.bet_id
            FROM voids v
            WHERE e.kind = 'voids'
              AND v.jackpot_id = :jackpot_id AND v.round_key = e.round_key AND v.step = e.step AND NOT v.is_tombstone
            UNION ALL
            SELECT b.bet_id
            FROM live_bets(:jackpot_id, e.round_key) AS b
            WHERE e.kind = 'cancellation'
            UNION ALL
            SELECT b.bet_id
            FROM hands h
            JOIN live_bets(:jackpot_id, e.round_key) AS b ON b.hand = h.hand
            WHERE e.kind = 'result' AND h.jackpot_id = :jackpot_id AND h.round_key = e.round_key AND h.status = 'dead'
        ) AS refunded
        WHERE e.kind IN ('voids', 'cancellation', 'result')
        UNION ALL
        SELECT 0, f.seq, b.round_key, b.bet_id, CASE WHEN dead.now THEN 1 ELSE -1 END
        FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
        CROSS JOIN LATERAL live_bets(:jackpot_id, f.round_key) AS b
        CROSS JOIN LATERAL (
            SELECT f.after -> 'refunds' ? b.bet_id,
                   EXISTS (SELECT
                           FROM jsonb_array_elements(f.before -> 'result' -> 'hands') AS one (hand)
                           WHERE one.hand ->> 0 = b.hand AND one.hand ->> 1 = 'dead')
        ) AS dead (now, before)
        WHERE f.kind = 'round_corrected' AND dead.now <> dead.before
    )
    SELECT one.rules_version, one.casino_id, one.currency, told.times < 0, one.is_over,
           abs(sum(told.times * one.stake)), abs(sum(told.times * one.stake * one.rate))
    FROM told
    CROSS JOIN LATERAL (
        SELECT r.casino_id, b.currency, r.rules_version,
               o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
               b.stake_minor * CAST('1e-' || s.exponent AS numeric) AS stake, s.base_per_unit AS rate
        FROM bets b
        JOIN entries o ON o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key AND o.step = b.step
        JOIN rounds r ON r.jackpot_id = b.jackpot_id AND r.round_key = b.round_key
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        LEFT JOIN LATERAL (
            SELECT y.cut
            FROM cycles y
            WHERE y.jackpot_id = b.jackpot_id AND coalesce(y.cut[told.stripe_no + 1], 0) < told.seq
            ORDER BY y.cycle DESC
            LIMIT 1
        ) AS running ON true
        WHERE b.jackpot_id = :jackpot_id AND b.round_key = told.round_key AND b.bet_id = told.bet_id
        LIMIT 1
    ) AS one
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
    """
)


def by_version(session: Session, stand: Stand) -> list[RefundOf]:
    """List what was refunded in a part, and what was booked again, whatever its entries booked for it."""
    return [RefundOf(*row) for row in session.execute(_BY_VERSION, parts.bounds(stand))]
