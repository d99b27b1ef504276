"""Answers that may be a second old: read once, given to everybody who asks meanwhile."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_KEPT = 10_000


class Recent(Generic[T]):
    """What was read of late, by its name. Its age counts from before it was read, so that it is never older."""

    def __init__(
        self, read: Callable[[str], T], *, seconds: float = 1.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._monotonic = monotonic
        self._kept: dict[str, tuple[float, T]] = {}

    def get(self, name: str) -> T:
        """What was read in the last second, or else now. Raises: what reading raises."""
        kept = self._kept.get(name)
        if kept is not None and self._monotonic() - kept[0] < self._seconds:
            return kept[1]
        return self.read(name)

    def read(self, name: str) -> T:
        """What is there now. Raises: what reading raises."""
        began = self._monotonic()
        value = self._read(name)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[name] = (began, value)
        return value
