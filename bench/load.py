"""
A light load generator, which shares the processors with service and database and so spends as little as it can.

Requests are ready bytes, answers are read no further than status and length. In the closed loop of `run`, as many
requests are in flight as there are connections: each sends its next one as soon as it has its answer. So it slows down
with the service, and its latencies are those of a queue of that length; for the latency at a given load there is
`open_loop`.
"""

import gc
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from bench import wire
from bench.latencies import Latencies, Stopwatch
from bench.requests import Requests
from bench.wire import Channel, LoadFailed

MOST_REQUESTS = 5_000_000
MOST_SECONDS = 600

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Load:
    """What a run saw, from its first request to its last answer."""

    requests: int
    seconds: float
    latencies: Latencies
    generator_us_per_request: float

    @property
    def requests_per_second(self) -> float:
        """Requests answered a second."""
        return self.requests / self.seconds


def run(port: int, requests: Requests, *, connections: int, seconds: float, most_requests: int = MOST_REQUESTS) -> Load:
    """
    Keep `connections` requests in flight for some seconds, or until enough were answered; then wait for the last.

    Raises: LoadFailed on the first answer that is not the expected one, when a connection breaks, or when no answer
    has come for a minute.
    """
    with opened(port, connections, selectors.DefaultSelector()) as (selector, channels):
        stop_ns = time.perf_counter_ns() + round(seconds * 1e9)
        return _loop(
            selector,
            channels,
            requests,
            goes_on=lambda answered: time.perf_counter_ns() < stop_ns and answered < most_requests,
        )


def run_during(act: Callable[[], T], port: int, requests: Requests, *, connections: int) -> tuple[T, Load]:
    """Keep `connections` requests in flight in a thread while `act` runs. Raises: as `run`, and what `act` raises."""
    enough = threading.Event()
    stop_ns = time.perf_counter_ns() + MOST_SECONDS * 1_000_000_000
    with (
        opened(port, connections, selectors.DefaultSelector()) as (selector, channels),
        ThreadPoolExecutor(max_workers=1) as thread,
    ):
        loading = thread.submit(
            _loop,
            selector,
            channels,
            requests,
            goes_on=lambda _answered: not enough.is_set() and time.perf_counter_ns() < stop_ns,
        )
        try:
            result = act()
        finally:
            enough.set()
        return result, loading.result()


@contextmanager
def opened(
    port: int, connections: int, selector: selectors.BaseSelector
) -> Iterator[tuple[selectors.BaseSelector, list[Channel]]]:
    """Open connections for a run, during which no garbage is collected. Raises: LoadFailed if one breaks meanwhile."""
    channels: list[Channel] = []
    gc.disable()
    try:
        channels += (Channel(port, selector, connection_no=connection_no) for connection_no in range(connections))
        yield selector, channels
    except OSError as broken:
        raise LoadFailed(f"a connection to port {port} broke: {broken}") from broken
    finally:
        gc.enable()
        for channel in channels:
            channel.close()
        selector.close()


def answers(selector: selectors.BaseSelector, *, timeout: float, expected: bytes) -> Iterator[tuple[Channel, bytes]]:
    """Wait for what the sockets have to say, and return the answers that are whole now, if any. Raises: LoadFailed."""
    for key, events in selector.select(timeout):
        channel: Channel = key.data
        answer = channel.proceed(events)
        if answer is not None:
            wire.require(answer, expected)
            yield channel, answer


def summary(stopwatch: Stopwatch, *, began_ns: int, cpu_began_ns: int) -> Load:
    """Sum up a run that has just ended in this thread. Raises: LoadFailed if it had no answer."""
    took_ns, cpu_ns = time.perf_counter_ns() - began_ns, time.thread_time_ns() - cpu_began_ns
    if not len(stopwatch):
        raise LoadFailed("nothing was asked")
    return Load(
        requests=len(stopwatch),
        seconds=took_ns / 1e9,
        latencies=stopwatch.latencies(),
        generator_us_per_request=cpu_ns / len(stopwatch) / 1e3,
    )


def _loop(
    selector: selectors.BaseSelector, channels: list[Channel], requests: Requests, *, goes_on: Callable[[int], bool]
) -> Load:
    stopwatch, in_flight = Stopwatch(), len(channels)
    cpu_began_ns, began_ns = time.thread_time_ns(), time.perf_counter_ns()
    last_answer_ns = began_ns
    for channel in channels:
        channel.send(requests.make(channel.connection_no), since_ns=time.perf_counter_ns())
    while in_flight:
        for channel, answer in answers(selector, timeout=wire.PATIENCE_SECONDS, expected=requests.expected):
            last_answer_ns = time.perf_counter_ns()
            if not len(stopwatch):
                requests.check(answer)
            stopwatch.take(began_ns=channel.since_ns, ended_ns=last_answer_ns)
            if goes_on(len(stopwatch)):
                channel.send(requests.make(channel.connection_no), since_ns=time.perf_counter_ns())
            else:
                in_flight -= 1
        require_patience(last_answer_ns)
    return summary(stopwatch, began_ns=began_ns, cpu_began_ns=cpu_began_ns)


def require_patience(last_answer_ns: int) -> None:
    """Raises: LoadFailed when the last answer came too long ago."""
    if time.perf_counter_ns() - last_answer_ns > wire.PATIENCE_SECONDS * 1e9:
        raise LoadFailed(f"no answer for {wire.PATIENCE_SECONDS:.0f} s")
