"""How long the tests that try cases look: in `make test` a little while, in `make test-deep` much longer."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from hypothesis import settings

CASES: Final = int(os.environ.get("JACKPOT_TEST_CASES", "0"))
"""How many cases to try: others for each SEED of `make test-deep`; unset, the same few as ever."""

SETTINGS: Final = settings(max_examples=CASES or 25, derandomize=not CASES, deadline=None, database=None)
"""Without a deadline, since a busy machine is no failure."""


def repeatable(test: Callable[..., Any]) -> Callable[..., Any]:
    """Stand over a `given`: it tries as many cases as are asked for, and is one of the tests of `make test-deep`."""
    marked: Callable[..., Any] = pytest.mark.deep(SETTINGS(test))
    return marked


HISTORIES: Final = CASES // 20 or 1

_EARLIER: Final = HISTORIES * (int(os.environ.get("JACKPOT_TEST_SEED", "1")) - 1)
"""Histories that smaller seeds of a run play."""


def seeds(first: int = 0) -> Sequence[int]:
    """For a test marked as `deep` that plays a random history of each seed: one, or a twentieth of the cases asked."""
    return range(first + _EARLIER, first + _EARLIER + HISTORIES)
