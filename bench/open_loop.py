"""
Load at a given rate: requests leave at times fixed before, whatever has been answered.

Latency counts from the intended time, also where a request had to wait for a connection, so that a stall is seen by all
the requests it would have delayed and not only by those in flight (the "coordinated omission" of a closed loop).
"""

import random
import selectors
import time
from collections import deque
from collections.abc import Sequence

from bench import load, wire
from bench.latencies import Stopwatch
from bench.load import Load
from bench.requests import Requests
from bench.wire import Channel

CONNECTIONS = 64

_SEED = 20_26


def schedule(rate: float, seconds: float) -> Sequence[int]:
    """Choose when requests are to leave, in ns from the start: gaps as of independent players, the same every time."""
    chance = random.Random(_SEED)
    times: list[int] = []
    at = chance.expovariate(rate)
    while at < seconds and len(times) < load.MOST_REQUESTS:
        times.append(round(at * 1e9))
        at += chance.expovariate(rate)
    return times


def run(port: int, requests: Requests, *, due_ns: Sequence[int]) -> Load:
    """
    Send a request at each of the given times and wait for all the answers.

    The selector is the one that counts microseconds: epoll would let requests leave up to a millisecond late. With this
    one they left 0.1 ms late at the median, 0.5 ms at the 99th percentile, which counts as latency too.
    Raises: LoadFailed, as `load.run`.
    """
    with load.opened(port, CONNECTIONS, selectors.SelectSelector()) as (selector, channels):
        return _Loop(selector, channels, requests, due_ns).run()


class _Loop:
    """One run: the connections that are idle, the longest idle first, and how many requests have left."""

    def __init__(
        self, selector: selectors.BaseSelector, channels: Sequence[Channel], requests: Requests, due_ns: Sequence[int]
    ) -> None:
        self._selector = selector
        self._idle = deque(channels)
        self._requests = requests
        self._due_ns = due_ns
        self._left = 0
        self._began_ns = 0

    def run(self) -> Load:
        stopwatch = Stopwatch()
        cpu_began_ns, self._began_ns = time.thread_time_ns(), time.perf_counter_ns()
        last_answer_ns = self._began_ns
        while len(stopwatch) < len(self._due_ns):
            timeout = self._send_what_is_due()
            for channel, answer in load.answers(self._selector, timeout=timeout, expected=self._requests.expected):
                last_answer_ns = time.perf_counter_ns()
                if not len(stopwatch):
                    self._requests.check(answer)
                stopwatch.take(began_ns=channel.since_ns, ended_ns=last_answer_ns)
                self._idle.append(channel)
            load.require_patience(last_answer_ns)
        return load.summary(stopwatch, began_ns=self._began_ns, cpu_began_ns=cpu_began_ns)

    def _send_what_is_due(self) -> float:
        """Send what is due as far as there are idle connections; return the seconds until there is more to send."""
        while self._idle and self._left < len(self._due_ns):
            due_at_ns = self._began_ns + self._due_ns[self._left]
            early_ns = due_at_ns - time.perf_counter_ns()
            if early_ns > 0:
                return early_ns / 1e9
            channel = self._idle.popleft()
            channel.send(self._requests.make(channel.connection_no), since_ns=due_at_ns)
            self._left += 1
        return wire.PATIENCE_SECONDS
