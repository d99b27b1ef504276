"""
Places: a bounded number of things that callers use at a time, shared by casino and by key.

A call gets a place if one is free, or if its key holds less than its share: the number of places, divided by the
casinos that hold some, divided by the keys of its casino that do. So a caller who is alone may hold all places; as soon
as another comes, that one finds a place at once, and whoever holds more than a share gets none until places are free
again. For that, up to three times as many places are given as there are; of these, one casino has two thirds at most,
divided by the casinos, so that its many keys leave room for another. Nobody waits here: a call without a place is
answered 503, or waits elsewhere (`turns.py`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from jackpot_service.database.transactions import Busy
from jackpot_service.domain.principals import Principal
from jackpot_service.telemetry import counters


class Caller(NamedTuple):
    """Who shares with others: a casino (the house is the one without a name), and in it the owner of a key."""

    casino: str
    key: str

    @classmethod
    def of(cls, principal: Principal) -> "Caller":
        """The caller that a principal is; its two keys, while they rotate, are one."""
        return cls(principal.casino_id or "", principal.name)


class Places:
    """So many places, for threads and for event loops; `what` names them in metrics, `at_most` bounds what is given."""

    def __init__(self, what: str, most: int, *, at_most: int | None = None) -> None:
        self.what = what
        self.most = most
        self.at_most = 3 * most if at_most is None else at_most
        self._lock = threading.Lock()
        self._held: dict[str, dict[str, int]] = {}
        self._total = 0

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
