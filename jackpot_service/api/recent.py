"""Readings that many ask for: shared by those who ask at once, and kept a second for those who allow it."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Generic, TypeVar

from jackpot_service.database.failures import Busy
from jackpot_service.database.groups import Grouping
from jackpot_service.domain.errors import LedgerError, Unavailable

T = TypeVar("T")

MOST_KEPT = 10_000


class Recent(Generic[T]):
    """
    Recent readings, by name. Its age counts from before it was read, so that it is never older.

    A reading is shared only by those who asked before it began, so that nobody gets less than was there.
    `read_on_loop` is how an event loop reads the same; see `Grouping`.
    """

    def __init__(
        self,
        read: Callable[[str], T],
        *,
        threads: Executor,
        longest_wait_s: float = 5.0,
        seconds: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
        read_on_loop: Callable[[str], Awaitable[T]] | None = None,
    ) -> None:
        self._read = read
        self._readings: Grouping[str, T] = Grouping(
            self._read_all,
            joining=lambda _: lambda _: True,
            threads=threads,
            longest_wait_s=longest_wait_s,
            run_on_loop=None if read_on_loop is None else partial(self._read_all_on_loop, read_on_loop),
            unfinished=Busy,
        )
        self._seconds = seconds
        self._monotonic = monotonic
        self._cache: dict[str, tuple[float, T]] = {}

    def get(self, name: str) -> T:
        """Return a reading of the last second, or else of now. Raises: what reading raises."""
        cached = self._cached(name)
        return self.read(name) if cached is None else cached

    def read(self, name: str) -> T:
        """Return a reading of now. Raises: what reading raises; Busy if its turn does not come."""
        return self._readings.submit(name)

    async def get_async(self, name: str, *, ends_at: float = math.inf) -> T:
        """As `get`, by a call that has to be answered at `ends_at`; others of the loop run meanwhile."""
        cached = self._cached(name)
        return await self.read_async(name, ends_at=ends_at) if cached is None else cached

    async def read_async(self, name: str, *, ends_at: float = math.inf) -> T:
        """As `read`, by a call that has to be answered at `ends_at`; others of the loop run meanwhile."""
        return await self._readings.submit_async(name, ends_at=ends_at)

    def _cached(self, name: str) -> T | None:
        cached = self._cache.get(name)
        return cached[1] if cached is not None and self._monotonic() - cached[0] < self._seconds else None

    def _read_all(self, names: Sequence[str]) -> list[T | LedgerError]:
        values: dict[str, T | LedgerError] = {}
        for name in dict.fromkeys(names):
            try:
                values[name] = self._read_one(name)
            except Unavailable:
                raise
            except LedgerError as refusal:
                values[name] = refusal.with_traceback(None)
        return [values[name] for name in names]

    def _read_one(self, name: str) -> T:
        began = self._monotonic()
        return self._keep(name, began, self._read(name))

    async def _read_all_on_loop(
        self, read: Callable[[str], Awaitable[T]], names: Sequence[str]
    ) -> list[T | LedgerError]:
        """Read all, as the loop can as long as nothing is wrong; who is refused, and by what, a thread finds out."""
        values: dict[str, T] = {}
        for name in dict.fromkeys(names):
            began = self._monotonic()
            values[name] = self._keep(name, began, await read(name))
        return [values[name] for name in names]

    def _keep(self, name: str, began: float, value: T) -> T:
        if len(self._cache) >= MOST_KEPT:
            self._cache.clear()
        self._cache[name] = (began, value)
        return value
