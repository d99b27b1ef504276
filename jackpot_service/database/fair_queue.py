"""
Start-time fair queueing: the order in which waiting calls are taken, where several callers share one thing.

Each call waits in a flow, which is named by a path such as (casino, key, table). At every level of the paths the flow
with the least virtual start time is next. A flow that waits again starts no earlier than the call that was taken last;
each call that is taken moves the start of its flow by the call's cost. So a flow that asks for little is served soon,
however much another flow asks for, and whatever one flow leaves unused the others have. Calls of one flow keep their
order. There is no clock in this: virtual time is the sum of the costs that were served.

Source: P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", IEEE/ACM Transactions on Networking 5(5), 1997.
"""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Final, Generic, TypeVar

T = TypeVar("T")

Path = Sequence[str]

MOST_REMEMBERED: Final = 1000
"""Flows of a level that wait for nothing now and have had more than others: where they would start again is kept."""


class FairQueue(Generic[T]):
    """Calls that wait, taken in fair order. Every path has the same number of names."""

    def __init__(self) -> None:
        self._root: _Flow[T] = _Flow(0.0, 0)
        self._waiting = 0
        self._numbers = count(1)

    def __len__(self) -> int:
        return self._waiting

    @property
    def names(self) -> Collection[str]:
        """The first names of the paths in which a call waits: those who share."""
        return self._root.flows.keys()

    def add(self, item: T, *, path: Path = (), cost: float = 1.0) -> None:
        """Let a call wait behind those of its own flow."""
        flow = self._root
        for name in path:
            flow = flow.flow(name, number=next(self._numbers))
        flow.items.append((item, cost))
        self._waiting += 1

    def remove(self, item: T, *, path: Path = ()) -> bool:
        """Let a call wait no longer; returns whether it did."""
        flows = [self._root]
        for name in path:
            if name not in flows[-1].flows:
                return False
            flows.append(flows[-1].flows[name])
        waiting = next((entry for entry in flows[-1].items if entry[0] is item), None)
        if waiting is None:
            return False
        flows[-1].items.remove(waiting)
        for parent, name in zip(reversed(flows[:-1]), reversed(path), strict=True):
            parent.forget_if_empty(name)
        self._left(1)
        return True

    def take(self, takes: Callable[[T], bool]) -> list[T]:
        """
        Take, in fair order, each call that `takes` agrees to, which is asked once for every call that waits.

        A call that it does not agree to keeps its place, and costs its flow nothing.
        """
        taken: list[T] = []
        self._root.begin()
        while (waiting := self._root.next(takes)) is not None:
            taken.append(waiting[0])
        self._root.end()
        self._left(len(taken))
        return taken

    def take_one(self) -> T:
        """Take the call that is next. Raises: LookupError if none waits."""
        self._root.begin()
        waiting = self._root.next(lambda _: True)
        self._root.end()
        if waiting is None:
            raise LookupError("No call waits.")
        self._left(1)
        return waiting[0]

    def _left(self, count: int) -> None:
        self._waiting -= count
        if not self._waiting:  # Everybody has had what they asked for, so nobody is behind.
            self._root = _Flow(0.0, 0)


class _Flow(Generic[T]):
    """Calls that wait behind each other, or flows that share a flow. `number` is older where it is less."""

    __slots__ = ("_left_at", "_next", "_now", "_passed", "flows", "items", "number", "start")

    def __init__(self, start: float, number: int) -> None:
        self.start = start
        self.number = number
        self.items: deque[tuple[T, float]] = deque()
        self.flows: dict[str, _Flow[T]] = {}
        self._now = 0.0
        self._left_at: dict[str, float] = {}
        self._passed: list[tuple[T, float]] = []
        self._next: list[tuple[float, int, str]] = []

    def flow(self, name: str, *, number: int) -> "_Flow[T]":
        """Return the flow of a name, which starts now if it waited for nothing."""
        flow = self.flows.get(name)
        if flow is None:
            flow = self.flows[name] = _Flow(max(self._now, self._left_at.pop(name, 0.0)), number)
        return flow

    def begin(self) -> None:
        """Begin to take."""
        if self.flows:
            self._next = [(flow.start, flow.number, name) for name, flow in self.flows.items()]
            heapq.heapify(self._next)
            for flow in self.flows.values():
                flow.begin()

    def next(self, takes: Callable[[T], bool]) -> tuple[T, float] | None:
        """Take the next call that is agreed to, and return it with its cost; None if there is no other."""
        while self._next:
            start, number, name = self._next[0]
            flow = self.flows[name]
            waiting = flow.next(takes)
            if waiting is None:
                heapq.heappop(self._next)
                continue
            self._now = max(self._now, start)
            flow.start = start + waiting[1]
            heapq.heapreplace(self._next, (flow.start, number, name))
            return waiting
        while self.items:
            entry = self.items.popleft()
            if takes(entry[0]):
                return entry
            self._passed.append(entry)
        return None

    def end(self) -> None:
        """Keep what was not taken, in its order; forget flows in which no call waits."""
        if self._passed:
            self.items.extendleft(reversed(self._passed))
            self._passed.clear()
        for name, flow in list(self.flows.items()):
            flow.end()
            self.forget_if_empty(name)

    def forget_if_empty(self, name: str) -> None:
        """Forget a flow in which no call waits, but not what it has had more than others."""
        flow = self.flows[name]
        if flow.items or flow.flows:
            return
        del self.flows[name]
        if flow.start > self._now:
            if len(self._left_at) >= MOST_REMEMBERED:
                self._left_at = {name: start for name, start in self._left_at.items() if start > self._now}
            if len(self._left_at) < MOST_REMEMBERED:
                self._left_at[name] = flow.start
