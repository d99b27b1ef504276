"""
A light closed-loop load generator: HTTP/1.1 with keep-alive on raw sockets, against this machine only.

Generator, service and database share the processors, so it spends as little as it can: requests are ready bytes in
which only the ids are replaced, answers are read no further than status and length. Each request opens a new round
with N bets at one of the tables. As many requests are in flight as there are connections; each connection sends its
next one as soon as it has its answer.
"""

import gc
import json
import re
import selectors
import socket
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from bench import batches

_PATIENCE_SECONDS = 60.0
_MOST_REQUESTS = 5_000_000
_RECEIVE_BYTES = 65_536
_CREATED = b"HTTP/1.1 201 "
_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)


class LoadFailed(Exception):
    """The service did not do what it was asked, so there is nothing to measure."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a run saw: all bets acknowledged, over the time from the first request to the last answer."""

    requests: int
    bets: int
    seconds: float
    p50_ms: float
    p99_ms: float
    generator_us_per_request: float

    @property
    def bets_per_second(self) -> float:
        """Bets acknowledged a second."""
        return self.bets / self.seconds


def run(*, port: int, key: str, bets: int, connections: int, seconds: float) -> Load:
    """
    Keep `connections` requests of `bets` bets in flight for some seconds, then wait for the last answers.

    Raises: LoadFailed on the first answer that is not 201 (its body is in the message; 200 would be a replay), when a
    connection breaks, or when no answer has come for a minute.
    """
    templates = batches.templates(key=key, bets=bets)
    with selectors.DefaultSelector() as selector:
        loop = _Loop(selector, bets=bets)
        gc.disable()
        try:
            for number in range(connections):
                loop.connect(port, templates[number % len(templates)])
            return loop.run(seconds)
        except OSError as broken:
            raise LoadFailed(f"a connection to port {port} broke: {broken}") from broken
        finally:
            gc.enable()
            loop.close()


class _Connection:
    """One keep-alive connection with one request in flight."""

    __slots__ = ("received", "sent_at_ns", "socket", "template", "unsent", "waits_to_send")

    def __init__(self, port: int, template: bytes) -> None:
        self.socket = socket.create_connection((batches.HOST, port), timeout=_PATIENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)  # noqa: FBT003 -- the standard library's own signature
        self.template = template
        self.unsent = b""
        self.waits_to_send = False
        self.received = b""
        self.sent_at_ns = 0


class _Loop:
    """The event loop of one run."""

    def __init__(self, selector: selectors.BaseSelector, *, bets: int) -> None:
        self._selector = selector
        self._bets = bets
        self._connections: list[_Connection] = []
        self._latencies_ns = array("q")
        self._in_flight = 0
        # In units of 1/4096 ms, the resolution of a UUID of version 7: later runs begin higher.
        self._serial = time.time_ns() * 4096 // 1_000_000

    def connect(self, port: int, template: bytes) -> None:
        connection = _Connection(port, template)
        self._connections.append(connection)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)

    def close(self) -> None:
        for connection in self._connections:
            connection.socket.close()

    def run(self, seconds: float) -> Load:
        cpu_ns, began_ns = time.process_time_ns(), time.perf_counter_ns()
        stop_ns = began_ns + round(seconds * 1e9)
        for connection in self._connections:
            self._send_next(connection)
        while self._in_flight:
            ready = self._selector.select(_PATIENCE_SECONDS)
            if not ready:
                raise LoadFailed(f"no answer for {_PATIENCE_SECONDS:.0f} s, {self._in_flight} requests in flight")
            for key, events in ready:
                if events & selectors.EVENT_WRITE:
                    self._send(key.data)
                if events & selectors.EVENT_READ and self._receive(key.data) and self._goes_on(stop_ns):
                    self._send_next(key.data)
        took_ns, cpu_ns = time.perf_counter_ns() - began_ns, time.process_time_ns() - cpu_ns
        return _summary(self._latencies_ns, bets=self._bets, took_ns=took_ns, cpu_ns=cpu_ns)

    def _goes_on(self, stop_ns: int) -> bool:
        return time.perf_counter_ns() < stop_ns and len(self._latencies_ns) < _MOST_REQUESTS

    def _send_next(self, connection: _Connection) -> None:
        self._serial += 1
        connection.unsent = batches.fill(connection.template, self._serial)
        connection.sent_at_ns = time.perf_counter_ns()
        self._in_flight += 1
        self._send(connection)

    def _send(self, connection: _Connection) -> None:
        """Send what the socket takes; the rest of a large request waits until the socket takes more."""
        try:
            sent = connection.socket.send(connection.unsent)
        except BlockingIOError:
            sent = 0
        connection.unsent = connection.unsent[sent:]
        must_wait = bool(connection.unsent)
        if must_wait != connection.waits_to_send:
            connection.waits_to_send = must_wait
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if must_wait else 0)
            self._selector.modify(connection.socket, events, connection)

    def _receive(self, connection: _Connection) -> bool:
        """Read what has come; true when the answer is whole."""
        part = connection.socket.recv(_RECEIVE_BYTES)
        if not part:
            raise LoadFailed("the service closed a connection")
        answer = connection.received + part
        if not _is_whole(answer):
            connection.received = answer
            return False
        if not answer.startswith(_CREATED):
            raise LoadFailed(answer.decode(errors="replace"))
        if not self._latencies_ns:
            _check_first(answer, self._bets)
        self._latencies_ns.append(time.perf_counter_ns() - connection.sent_at_ns)
        self._in_flight -= 1
        connection.received = b""
        return True


def _is_whole(answer: bytes) -> bool:
    end_of_head = answer.find(b"\r\n\r\n")
    if end_of_head < 0:
        return False
    length = _CONTENT_LENGTH.search(answer, 0, end_of_head + 2)
    if length is None:
        raise LoadFailed(f"an answer without Content-Length: {answer.decode(errors='replace')}")
    return len(answer) >= end_of_head + 4 + int(length[1])


def _check_first(answer: bytes, bets: int) -> None:
    accepted = json.loads(answer[answer.find(b"\r\n\r\n") :]).get("accepted")
    if accepted != bets:
        raise LoadFailed(f"the first answer accepted {accepted} bets of {bets}")


def _summary(latencies_ns: Sequence[int], *, bets: int, took_ns: int, cpu_ns: int) -> Load:
    requests = len(latencies_ns)
    ordered = sorted(latencies_ns)
    return Load(
        requests=requests,
        bets=requests * bets,
        seconds=took_ns / 1e9,
        p50_ms=_percentile(ordered, 50) / 1e6,
        p99_ms=_percentile(ordered, 99) / 1e6,
        generator_us_per_request=cpu_ns / requests / 1e3,
    )


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """Take the nearest rank: the least value that so many per cent of all do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]
