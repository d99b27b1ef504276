"""
Places: a bounded number of things that callers use at a time, shared by casino and by key; and turns to get one.

A call gets a place if one is free, or if its key holds less than its share. A share is the number of places, divided by
the casinos that hold some, divided by the keys of its casino that do. So a caller who is alone may hold all places. As
soon as another comes, that one finds a place at once. A caller that holds more than its share gets none until places
are free again.

For that, up to three times as many places are given as there are. Of these, one casino has two thirds at most, divided
by the casinos, so that its many keys leave room for another.

A call without a place is answered 503 where it cannot wait. Where it can, it takes its turn in fair order by casino and
key (`database/fair_queue.py`), on the event loop, where waiting costs nothing. If as many wait as there are places, or
fewer, it waits until it has to be answered: they are all served soon, unless the database itself stands still. In a
longer queue, a call that has waited too long is answered 503. To refuse it at once would cost more: a client that does
not wait asks again at once.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from jackpot_service.database.failures import Busy
from jackpot_service.database.fair_queue import FairQueue
from jackpot_service.domain.principals import Principal
from jackpot_service.telemetry import counters


class Caller(NamedTuple):
    """A caller that shares with others: a casino, and in it the owner of a key; the house has no name."""

    casino: str
    key: str

    @classmethod
    def of(cls, principal: Principal) -> "Caller":
        """The caller that a principal is; its two keys, while they rotate, are one."""
        return cls(principal.casino_id or "", principal.name)


class Places:
    """So many places, for threads and for event loops; `what` names them in metrics, `at_most` bounds what is given."""

    def __init__(self, what_for: str, most: int, *, at_most: int | None = None) -> None:
        self.what = what_for
        self.most = most
        self.at_most = 3 * most if at_most is None else at_most
        self._lock = threading.Lock()
        self._held: dict[str, dict[str, int]] = {}
        self._total = 0

    @property
    def taken(self) -> int:
        """How many are held."""
        return self._total

    @property
    def is_one_free(self) -> bool:
        """Whether anybody would get a place, and as many more as the same call needs."""
        return self._total < self.most

    @contextmanager
    def place(self, caller: Caller, count: int = 1) -> Iterator[None]:
        """Hold places for as long as the block runs. Raises: Busy if there is none for this caller."""
        self.take(caller, count)
        try:
            yield
        finally:
            self.give_back(caller, count)

    def take(self, caller: Caller, count: int = 1) -> None:
        """Take places, to be given back. Raises: Busy if there is none for this caller."""
        if not self.has_taken(caller, count):
            raise self.turned_away(f"As many {self.what} as can be taken are in progress.")

    def has_taken(self, caller: Caller, count: int = 1) -> bool:
        """Take places if there are any for this caller; returns whether there were. None are always there."""
        if not count:
            return True
        with self._lock:
            if not (self.is_one_free or self._is_below_share(caller)):
                return False
            of_casino = self._held.setdefault(caller.casino, {})
            of_casino[caller.key] = of_casino.get(caller.key, 0) + count
            self._total += count
        return True

    def give_back(self, caller: Caller, count: int = 1) -> None:
        """Give places back."""
        if not count:
            return
        with self._lock:
            of_casino = self._held[caller.casino]
            of_casino[caller.key] -= count
            self._total -= count
            if not of_casino[caller.key]:
                del of_casino[caller.key]
                if not of_casino:
                    del self._held[caller.casino]

    def turned_away(self, detail: str) -> Busy:
        """Count a call that got no place, and make the error that it is answered by."""
        counters.count(counters.CALLS_TURNED_AWAY, what=self.what)
        return Busy(detail)

    def _is_below_share(self, caller: Caller) -> bool:
        if self._total >= self.at_most:
            return False
        of_casino = self._held.get(caller.casino, {})
        casinos = len(self._held) + (caller.casino not in self._held)
        keys = len(of_casino) + (caller.key not in of_casino)
        if sum(of_casino.values()) >= max(1, 2 * self.at_most // 3 // casinos):
            return False
        return of_casino.get(caller.key, 0) < max(1, self.most // casinos // keys)


class Turn:
    """A call's turn, until it is ended."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end

    def end(self) -> None:
        """End it, if nobody did: the next call may begin."""
        end, self._end = self._end, None
        if end is not None:
            end()


class _Waiting:
    """A call that waits for its turn."""

    __slots__ = ("begun", "caller", "count", "has_turn", "loop")

    def __init__(self, caller: Caller, count: int) -> None:
        self.caller = caller
        self.count = count
        self.loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[None] = self.loop.create_future()
        self.has_turn = False

    def begin(self) -> None:
        """Wake the call, which may have been stopped meanwhile; on its loop."""
        if not self.begun.done():
            self.begun.set_result(None)


class Turns:
    """Calls of one process that take turns; none that joins a long queue waits longer than `longest_wait_s`."""

    def __init__(self, places: Places, *, longest_wait_s: float) -> None:
        self.places = places
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()
        self._queue: FairQueue[_Waiting] = FairQueue()

    async def take(self, caller: Caller, count: int = 1, *, ends_at: float) -> Turn:
        """
        Wait for a turn with so many places; others of the loop run meanwhile. The call has to be answered at `ends_at`.

        Raises: Busy if the turn did not come.
        """
        with self._lock:
            if self.places.has_taken(caller, count):
                return Turn(lambda: self._end(caller, count))
            waiting = _Waiting(caller, count)
            self._queue.add(waiting, path=caller, cost=count)
            is_queue_long = len(self._queue) > self.places.most
        longest_wait_s = ends_at - time.monotonic()
        if is_queue_long:
            longest_wait_s = min(longest_wait_s, self._longest_wait_s)
        leaving = waiting.loop.call_later(longest_wait_s, self._leave, waiting)
        try:
            await waiting.begun
        except BaseException:
            self._stop(waiting)
            raise
        finally:
            leaving.cancel()
        return Turn(lambda: self._end(caller, count))

    def _end(self, caller: Caller, count: int) -> None:
        """Give places back, and let those begin whose turn it is; the thread of a call may do this, too."""
        with self._lock:
            self.places.give_back(caller, count)
            while self._queue and self.places.is_one_free:
                waiting = self._queue.take_one()
                self.places.take(waiting.caller, waiting.count)
                waiting.has_turn = True
                waiting.loop.call_soon_threadsafe(waiting.begin)

    def _leave(self, waiting: _Waiting) -> None:
        """Wait no longer, unless it is the call's turn."""
        with self._lock:
            is_waiting = self._queue.remove(waiting, path=waiting.caller)
        if is_waiting and not waiting.begun.done():
            error = self.places.turned_away("Others keep the service busy for too long; nothing was written.")
            waiting.begun.set_exception(error)

    def _stop(self, waiting: _Waiting) -> None:
        """Take back what a call waits for, or got, that goes no further."""
        with self._lock:
            self._queue.remove(waiting, path=waiting.caller)
        if waiting.has_turn:
            self._end(waiting.caller, waiting.count)
