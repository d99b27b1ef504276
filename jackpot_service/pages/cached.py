"""Readings that say the same for ever, cached for the next who wants one: panels as of an instant."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from jackpot_service.database.failures import Busy

MOST_CACHED: Final = 64
"""Readings of a process, each of some kilobytes."""

LONGEST_WAIT_S: Final = 5.0
"""For the reading of somebody else: a call that waits holds a thread."""

Values = Mapping[str, Any]


class Cache:
    """The readings that were taken last, by what they answer; those who want the same at once wait for one reading."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Values] = OrderedDict()
        self._turns: dict[Hashable, threading.Lock] = {}

    def values(self, key: Hashable, read: Callable[[], Values]) -> Values:
        """Return what is cached under a key, or read it. Raises: as reading does, and nothing is cached; Busy."""
        with self._lock:
            if key in self._values:
                return self._values[key]
            turn = self._turns.setdefault(key, threading.Lock())
        if not turn.acquire(timeout=LONGEST_WAIT_S):
            message = "This is being read for somebody else, which takes long."
            raise Busy(message)
        try:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            return self._add(key, read())
        finally:
            with self._lock:
                self._turns.pop(key, None)
            turn.release()

    def _add(self, key: Hashable, values: Values) -> Values:
        with self._lock:
            self._values[key] = values
            while len(self._values) > MOST_CACHED:
                self._values.popitem(last=False)
        return values
