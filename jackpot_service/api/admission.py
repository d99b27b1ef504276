"""How many calls of bets a process takes at once: beyond that it says so, before it has read their bodies."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jackpot_service.db import Busy

MOST_AT_ONCE = 64
"""So many wait a fraction of a second for each other's commits; more would only wait longer."""


class Admission:
    """Places for calls in progress."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._places = threading.BoundedSemaphore(most)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place for as long as the block runs. Raises: Busy if none is free."""
        if not self._places.acquire(blocking=False):
            message = "As many calls as can be taken are in progress."
            raise Busy(message)
        try:
            yield
        finally:
            self._places.release()
