"""Readings that say the same for ever, cached for the next who wants one: panels as of an instant."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

MOST_CACHED: Final = 64
"""Readings of a process, each of some kilobytes."""

Values = Mapping[str, Any]


class Cache:
    """The readings that were taken last, by what they answer; those who want the same at once wait for one reading."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Values] = OrderedDict()
        self._turns: dict[Hashable, threading.Lock] = {}

    def values(self, key: Hashable, read: Callable[[], Values]) -> Values:
        """Return what is cached under a key, or read it. Raises: as reading does; then nothing is cached."""
        with self._lock:
            if key in self._values:
                return self._values[key]
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                return self._add(key, read())
            finally:
                with self._lock:
                    self._turns.pop(key, None)

    def _add(self, key: Hashable, values: Values) -> Values:
        with self._lock:
            self._values[key] = values
            while len(self._values) > MOST_CACHED:
                self._values.popitem(last=False)
        return values
