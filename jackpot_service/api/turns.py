"""
Turns: calls share some places, and wait for one on the event loop, where waiting costs nothing.

A caller who has fewer than its share gets one at once (`places.py`); all others take turns in fair order by casino and
key (`database/fair_queue.py`). A call that has waited too long is answered 503. To refuse it at once would cost
more: a client that does not wait asks again at once.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable

from jackpot_service.api.places import Caller, Places
from jackpot_service.database.fair_queue import FairQueue


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
    """Calls of one process that take turns; none waits longer than `longest_wait_s`."""

    def __init__(self, places: Places, *, longest_wait_s: float) -> None:
        self.places = places
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()
        self._queue: FairQueue[_Waiting] = FairQueue()

    async def take(self, caller: Caller, count: int = 1, *, ends_at: float = math.inf) -> Turn:
        """
        Wait for a turn with so many places; others of the loop run meanwhile. The call has to be answered at `ends_at`.

        Raises: Busy if the turn did not come.
        """
        with self._lock:
            if self.places.has_taken(caller, count):
                return Turn(lambda: self._end(caller, count))
            waiting = _Waiting(caller, count)
            self._queue.add(waiting, path=caller, cost=count)
        longest_wait_s = min(self._longest_wait_s, ends_at - time.monotonic())
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
