"""
Statements that are sent on a guess, together with the question whether it is right: if not, they write nothing.

Between statements that are sent together no answer can be looked at. So the question leaves its answer in a setting of
the transaction, and each statement that writes looks there. A wrong guess is no error, so the database logs none,
and the commit that follows has nothing to commit. See docs/decisions/hot-statements.md.
"""

from typing import Final

RIGHT: Final = "right"

HOLDS: Final = "current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'"
"""WHERE this: what is written only if no guess of the transaction was wrong. It is looked at once a statement."""


def asked(condition: str) -> str:
    """SQL that answers whether a condition holds, `right` or `wrong`, and leaves the answer for `HOLDS`."""
    return f"set_config('jackpot.guess', CASE WHEN {condition} THEN '{RIGHT}' ELSE 'wrong' END, true)"
