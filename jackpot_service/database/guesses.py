"""
Statements that are sent on a guess, together with the question whether it is right: if not, they write nothing.

Between statements that are sent together no answer can be looked at. So the question leaves its answer, `right` or
`wrong`, in a setting of the transaction (`jackpot.guess`), and each statement that writes looks there, once. A wrong
guess is no error, so the database logs none, and the commit that follows has nothing to commit. See
docs/decisions/hot-statements.md.
"""

from typing import Final

RIGHT: Final = "right"
"""What the question answers if the guess is right."""
