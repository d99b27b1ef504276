"""
Turns: Flask's calls share a few threads, and wait for one on the event loop, where waiting costs nothing.

A caller who has fewer threads than its share gets one at once (`places.py`); all others take turns in fair order by
casino and key (`fair_queue.py`). More threads than these would not do more: they have one interpreter and a few
connections between them, and the event loop would have to wait for its own turn among them.
"""

import asyncio
import threading
from collections.abc import Callable

from jackpot_service.api.places import Caller, Places
from jackpot_service.fair_queue import FairQueue


class Turn:
    """A caller's right to a thread, until it is ended."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end

    def end(self) -> None:
        """End it, if nobody did: the next call may begin."""
        end, self._end = self._end, None
        if end is not None:
            end()


class _Waiting:
    """A call that waits for its turn."""

    __slots__ = ("begun", "caller", "has_turn", "loop")

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
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
        self._places = places
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()
        self._queue: FairQueue[_Waiting] = FairQueue()

    async def take(self, caller: Caller) -> Turn:
        """Wait for a turn; others of the loop run meanwhile. Raises: Busy if it did not come."""
        with self._lock:
            if self._places.has_taken(caller):
                return Turn(lambda: self._end(caller))
            waiting = _Waiting(caller)
            self._queue.add(waiting, path=caller)
        leaving = waiting.loop.call_later(self._longest_wait_s, self._leave, waiting)
        try:
            await waiting.begun
        except BaseException:
            self._stop(waiting)
            raise
        finally:
            leaving.cancel()
        return Turn(lambda: self._end(caller))

    def _end(self, caller: Caller) -> None:
        """Give a thread back, and let those begin whose turn it is; the thread of a call may do this, too."""
        with self._lock:
            self._places.give_back(caller)
            while self._queue and self._places.is_one_free:
                waiting = self._queue.take_one()
                self._places.take(waiting.caller)
                waiting.has_turn = True
                waiting.loop.call_soon_threadsafe(waiting.begin)

    def _leave(self, waiting: _Waiting) -> None:
        """Wait no longer, unless it is the call's turn."""
        with self._lock:
            is_waiting = self._queue.remove(waiting, path=waiting.caller)
        if is_waiting and not waiting.begun.done():
            error = self._places.turned_away("Others keep the service busy for too long; nothing was written.")
            waiting.begun.set_exception(error)

    def _stop(self, waiting: _Waiting) -> None:
        """Take back what a call waits for, or got, that goes no further."""
        with self._lock:
            self._queue.remove(waiting, path=waiting.caller)
        if waiting.has_turn:
            self._end(waiting.caller)
