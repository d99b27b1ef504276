"""
Where the payment of a jackpot's last hit stands, which every answer of its meter states.

The question starts from open awards and stops at the first that answers it, however many share the hit.
"""

from typing import Final

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain.awards import HitPayment

# As `payment_of` has it, for the awards that the meter paid, those of corrections too. Rows are looked up by their keys
# (LATERAL, LIMIT): a join would read all of a jackpot's while the tables are thought to be small.
_LAST: Final = """
WITH hit AS MATERIALIZED (
    SELECT opened.round_key
    FROM cycles c
    CROSS JOIN LATERAL (
        SELECT e.round_key
        FROM entries e
        WHERE e.jackpot_id = %(jackpot_id)s AND e.stripe_no = c.stripe_no AND e.seq = c.seq
        LIMIT 1
    ) AS opened
    WHERE c.jackpot_id = %(jackpot_id)s AND c.cycle > 1
      AND c.cycle = (SELECT max(o.cycle) FROM cycles o WHERE o.jackpot_id = %(jackpot_id)s)
)
SELECT CASE
    WHEN EXISTS (
        SELECT 1
        FROM open_awards o
        CROSS JOIN LATERAL (
            SELECT 1
            FROM awards a
            WHERE a.jackpot_id = %(jackpot_id)s AND a.round_key = o.round_key AND a.bet_id = o.bet_id
              AND a.tier = o.tier AND a.correction = o.correction AND a.funded_by = 'meter'
            LIMIT 1
        ) AS from_meter
        WHERE o.jackpot_id = %(jackpot_id)s AND o.round_key = (SELECT hit.round_key FROM hit)
          AND o.state IN ('held', 'stopped')
    ) THEN 'pending'
    WHEN EXISTS (
        SELECT 1
        FROM open_awards o
        CROSS JOIN LATERAL (
            SELECT 1
            FROM awards a
            WHERE a.jackpot_id = %(jackpot_id)s AND a.round_key = o.round_key AND a.bet_id = o.bet_id
              AND a.tier = o.tier AND a.correction = o.correction AND a.funded_by = 'meter'
            LIMIT 1
        ) AS from_meter
        WHERE o.jackpot_id = %(jackpot_id)s AND o.round_key = (SELECT hit.round_key FROM hit)
    ) THEN 'released'
    WHEN EXISTS (
        SELECT 1
        FROM payments p
        CROSS JOIN LATERAL (
            SELECT 1
            FROM awards a
            WHERE a.jackpot_id = %(jackpot_id)s AND a.round_key = p.round_key AND a.bet_id = p.bet_id
              AND a.tier = p.tier AND a.correction = p.correction AND a.funded_by = 'meter'
            LIMIT 1
        ) AS from_meter
        CROSS JOIN LATERAL (
            SELECT k.state
            FROM award_steps s
            JOIN award_step_states k ON k.step = s.step
            WHERE s.jackpot_id = %(jackpot_id)s AND s.round_key = p.round_key AND s.bet_id = p.bet_id
              AND s.tier = p.tier AND s.correction = p.correction
            ORDER BY k.place DESC
            LIMIT 1
        ) AS last
        WHERE p.jackpot_id = %(jackpot_id)s AND p.round_key = (SELECT hit.round_key FROM hit)
          AND last.state = 'payable'  -- An award that was left payable and is not open was paid as a whole.
    ) THEN 'paid'
END
"""


def send_last(pipe: Pipeline, jackpot_id: str) -> Cursor:
    """Ask for the payment of a jackpot's last hit; `last_of` reads the answer."""
    return pipe.send(_LAST, {"jackpot_id": jackpot_id})


def last_of(cursor: Cursor) -> HitPayment | None:
    """Return where it stands; None if nothing of it is to be paid, or the jackpot was never hit."""
    ((word,),) = cursor
    return None if word is None else HitPayment(word)
