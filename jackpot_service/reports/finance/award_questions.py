"""What questions about awards have in common, in SQL; the award is `a`, a step of it `t`."""

from typing import Final

SAME_AWARD: Final = """t.jackpot_id = a.jackpot_id AND t.round_key = a.round_key AND t.bet_id = a.bet_id
         AND t.tier = a.tier AND t.correction = a.correction"""

OF_ROUND: Final = """
    JOIN rounds r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
"""
"""JOIN this: the award's round `r`, and its currency's rate `s` in the round's sheet."""

IN_UNITS: Final = "a.amount_minor * CAST('1e-' || s.exponent AS numeric)"

# An award that was reversed had been held to the end, or had become what the casino owed its player.
STEP_TAKEN: Final = f"""CASE WHEN t.step = 'reversed' AND EXISTS (
               SELECT FROM award_steps t WHERE {SAME_AWARD} AND t.step = 'held'
           ) AND NOT EXISTS (
               SELECT FROM award_steps t WHERE {SAME_AWARD} AND t.step IN ('approved', 'reinstated')
           ) THEN 'reversed while held' ELSE t.step END"""  # noqa: S608  the parts are ours
"""Which step was taken by an act; one that reversed an award tells whether it was held till then."""
