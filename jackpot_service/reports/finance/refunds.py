"""What was refunded, and what corrections booked again, as the documents say: for those who compare them with books."""

from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.effects import EFFECTS
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


# The entries are read once, not once for each kind.
_BY_ENTRIES = f"""
    WITH taking AS MATERIALIZED (
        SELECT e.stripe_no, e.seq, e.round_key, e.step, e.kind
        FROM {parts.ENTRIES}
        WHERE e.kind IN ('voids', 'cancellation', 'result')
    )
    SELECT e.stripe_no, e.seq, e.round_key, v.bet_id, 1 AS times
    FROM taking e
    CROSS JOIN LATERAL (
        SELECT v.bet_id
        FROM voids v
        WHERE v.jackpot_id = :jackpot_id AND v.round_key = e.round_key AND v.step = e.step AND NOT v.is_tombstone
        OFFSET 0
    ) AS v
    WHERE e.kind = 'voids'
    UNION ALL
    SELECT e.stripe_no, e.seq, e.round_key, b.bet_id, 1
    FROM taking e
    CROSS JOIN LATERAL (
        SELECT b.bet_id
        FROM bets b
        WHERE b.jackpot_id = :jackpot_id AND b.round_key = e.round_key AND {parts.LIVE}
        OFFSET 0
    ) AS b
    WHERE e.kind = 'cancellation'
    UNION ALL
    SELECT e.stripe_no, e.seq, e.round_key, b.bet_id, 1
    FROM taking e
    CROSS JOIN LATERAL (
        SELECT b.bet_id
        FROM hands h
        JOIN bets b ON b.jackpot_id = h.jackpot_id AND b.round_key = h.round_key AND b.hand = h.hand
        WHERE h.jackpot_id = :jackpot_id AND h.round_key = e.round_key AND h.status = 'dead' AND {parts.LIVE}
        OFFSET 0
    ) AS b
    WHERE e.kind = 'result'
"""  # noqa: S608  the parts are ours

_BY_CORRECTIONS = f"""
    SELECT 0 AS stripe_no, f.seq, b.round_key, b.bet_id, CASE WHEN dead.now THEN 1 ELSE -1 END AS times
    FROM effects f
    CROSS JOIN LATERAL (
        SELECT * FROM bets b WHERE b.jackpot_id = :jackpot_id AND b.round_key = f.round_key OFFSET 0
    ) AS b
    CROSS JOIN LATERAL (
        SELECT f.after -> 'refunds' ? b.bet_id,
               EXISTS (SELECT
                       FROM jsonb_array_elements(f.before -> 'result' -> 'hands') AS one (hand)
                       WHERE one.hand ->> 0 = b.hand AND one.hand ->> 1 = 'dead')
    ) AS dead (now, before)
    WHERE f.kind = 'round_corrected' AND dead.now <> dead.before AND {parts.LIVE}
"""  # noqa: S608  the parts are ours

# A bet's cycle had been won when it was refunded if it stands at or before the cut of the cycle that then ran: the last
# one that the refund stands after. OFFSET 0 has what belongs to each bet looked up: few are refunded.
_REFUNDED = """
    SELECT one.*, told.times, told.times * one.stake AS stakes
    FROM ({told}) AS told
    CROSS JOIN LATERAL (
        SELECT (e.booked_at AT TIME ZONE 'UTC')::date AS day,
               ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
               r.casino_id, r.table_id, b.currency, r.rules_version,
               o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
               b.stake_minor * CAST('1e-' || s.exponent AS numeric) AS stake, s.base_per_unit AS rate,
               split.to_meter, split.to_reserve, split.to_prize_fund, split.to_house
        FROM bets b
        JOIN entries e ON e.jackpot_id = b.jackpot_id AND e.stripe_no = told.stripe_no AND e.seq = told.seq
        JOIN entries o ON o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key AND o.step = b.step
        JOIN rounds r ON r.jackpot_id = b.jackpot_id AND r.round_key = b.round_key
        JOIN casinos c ON c.casino_id = r.casino_id
        CROSS JOIN LATERAL rules_split(:jackpot_id, r.rules_version) AS split
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        LEFT JOIN LATERAL (
            SELECT y.cut
            FROM cycles y
            WHERE y.jackpot_id = b.jackpot_id AND coalesce(y.cut[told.stripe_no + 1], 0) < told.seq
            ORDER BY y.cycle DESC
            LIMIT 1
        ) AS running ON true
        WHERE b.jackpot_id = :jackpot_id AND b.round_key = told.round_key AND b.bet_id = told.bet_id
        OFFSET 0
    ) AS one
"""

_BY_VERSION = text(
    f"""
    WITH {EFFECTS}
    SELECT rules_version, casino_id, currency, times < 0, is_over, abs(sum(stakes)), abs(sum(stakes * rate))
    FROM ({_REFUNDED.format(told=f"{_BY_ENTRIES} UNION ALL {_BY_CORRECTIONS}")}) AS one
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
    """  # noqa: S608  the parts are ours
)


def by_version(session: Session, stand: Stand) -> list[RefundOf]:
    """List what was refunded in a part, and what was booked again, whatever its entries booked for it."""
    return [RefundOf(*row) for row in session.execute(_BY_VERSION, parts.bounds(stand))]
