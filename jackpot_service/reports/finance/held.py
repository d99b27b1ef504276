"""Awards that are held at the end of what a report covers, as their steps say."""

from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand

# An index holds the few steps out of the ordinary: the question starts there (MATERIALIZED).
_HELD = text(
    """
    WITH held AS MATERIALIZED (
        SELECT * FROM award_steps WHERE step = 'held' AND jackpot_id = :jackpot_id
    )
    SELECT r.casino_id, a.currency, count(*), sum(a.amount_minor * CAST('1e-' || s.exponent AS numeric)), sum(a.cost)
    FROM held h
    JOIN awards a ON a.jackpot_id = h.jackpot_id AND a.round_key = h.round_key AND a.bet_id = h.bet_id
                 AND a.tier = h.tier AND a.correction = h.correction
    JOIN settlements d ON d.jackpot_id = a.jackpot_id AND d.round_key = a.round_key
    JOIN entries e ON e.jackpot_id = d.jackpot_id AND e.round_key = d.round_key AND e.step = d.step
    JOIN rounds r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    WHERE e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
      AND NOT EXISTS (
          SELECT
          FROM award_steps t
          JOIN acts x ON x.seq = t.act_seq
          CROSS JOIN LATERAL jsonb_to_recordset(x.effects) AS f (book text, seq bigint)
          WHERE t.jackpot_id = h.jackpot_id AND t.round_key = h.round_key AND t.bet_id = h.bet_id
            AND t.tier = h.tier AND t.correction = h.correction
            AND t.step IN ('approved', 'rejected', 'reversed')
            AND f.book = :jackpot_id AND f.seq <= (CAST(:ends AS bigint[]))[1]
      )
    GROUP BY 1, 2
    ORDER BY 1, 2
    """
)


@dataclass(frozen=True, slots=True)
class Held:
    """Awards of a casino that are held: how many, their sum in units of their currency, and their cost."""

    casino_id: str
    currency: str
    awards: int
    amount: Decimal
    cost: Decimal


def at_end(session: Session, stand: Stand) -> list[Held]:
    """Sum the awards that nobody had decided about where a part ends, by casino and currency."""
    return [Held(*row) for row in session.execute(_HELD, parts.bounds(stand))]
