"""How long the property tests look, and that they look at the same cases each time unless they are told otherwise."""

import os

from hypothesis import settings

EXAMPLES = int(os.environ.get("JACKPOT_TEST_EXAMPLES", "0"))
"""How many cases to try, each time other ones; unset, the same few as ever."""

repeatable = settings(max_examples=EXAMPLES or 100, derandomize=not EXAMPLES, deadline=None, database=None)
"""Stands over every `given`; without a deadline, since a busy machine is no failure."""
