"""A table's server that waits for every answer: rounds of any number of bets, and the result that hits the jackpot."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import socket

from bench import batches, wire
from bench.requests import CREATED
from bench.servers import Server

_LARGEST_BATCH = 2000


@dataclass(frozen=True, slots=True)
class Answered:
    """When a request left and when its answer was whole, by `time.perf_counter_ns()`."""

    began_ns: int
    ended_ns: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended_ns - self.began_ns) / 1e9


class Table:
    """A table whose rounds all end in a royal flush."""

    def __init__(self, connection: socket, *, table: str, key: str, bets: int) -> None:
        self._connection = connection
        self._serials = batches.serials()
        self._batches = tuple(
            batches.bets_template(table, key=key, bets=min(bets - first, _LARGEST_BATCH), first=first)
            for first in range(0, bets, _LARGEST_BATCH)
        )
        self._result = batches.royal_flush_template(table, key=key, bets=bets)

    def hit(self, *, after_seconds: float = 0) -> Answered:
        """
        Play a round and hit the jackpot some time after its last bet; tells how long the result took.

        Raises: LoadFailed.
        """
        serial = next(self._serials)
        for batch in self._batches:
            wire.ask(self._connection, batches.fill(batch, serial), expected=CREATED)
        result = batches.fill(self._result, serial)
        time.sleep(after_seconds)
        began_ns = time.perf_counter_ns()
        wire.ask(self._connection, result, expected=CREATED)
        return Answered(began_ns, time.perf_counter_ns())


@contextmanager
def opened(server: Server, *, table: str, bets: int) -> Iterator[Table]:
    """Connect a table whose rounds have so many bets."""
    with wire.connect(server.port) as connection:
        yield Table(connection, table=table, key=server.key, bets=bets)
