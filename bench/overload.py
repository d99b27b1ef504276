"""
What becomes of the service when more is asked of it than it can do, and of a casino when another floods the service.

Connections are kept busy without a pause: whoever is refused asks again at once, which no client should do. So this is
harder on the service than the same number of clients that wait as `Retry-After` says.
"""

import selectors
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

from bench import load, refusals, servers, wire
from bench.figures import Figure
from bench.latencies import Latencies, Stopwatch
from bench.requests import CREATED, BetRequests
from bench.site import Site
from bench.targets import OTHERS_BETS, OTHERS_P95_MS, OVERLOAD_GOODPUT, OVERLOAD_P99_MS
from bench.wire import LoadFailed

NAME = "overload"

CONNECTIONS = 64
TIMES = (1, 4, 10)
BETS_OF_OTHERS = 50
SIZES_OF_FLOODS = (1, 100)
OTHERS_TABLE = "other-1"

_ANSWER = b"HTTP/1.1 "
_BUSY = b"HTTP/1.1 503 "


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to overload the service at each number of connections."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Goodput:
    """What was booked and what was refused, and how long the one and the other took."""

    seconds: float
    booked: Latencies
    refused: int

    @property
    def booked_per_second(self) -> float:
        """Requests booked a second."""
        return len(self.booked.took_ns) / self.seconds


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure the goodput at one, four and ten times the connections, then both floods, then what refusals cost."""
    return (
        *_overloaded(site, plan),
        *(figure for bets in SIZES_OF_FLOODS for figure in _flooded(site, bets)),
        *refusals.measure(site, seconds=plan.seconds),
    )


def _overloaded(site: Site, plan: Plan) -> Iterator[Figure]:
    requests = BetRequests(site.service, bets=1)
    site.warm_up(site.service, requests, connections=CONNECTIONS // 2)
    goodputs = {}
    for times in TIMES:
        connections = times * CONNECTIONS
        site.log(f"overload: {connections} connections")
        goodput = overload(site.service.port, requests, connections=connections, goes_on=_for(plan.seconds))
        goodputs[times] = goodput
        at, is_overload = {"connections": connections}, times == max(TIMES)
        p99 = goodput.booked.percentile_ms(99)
        yield Figure(NAME, "booked", goodput.booked_per_second, "requests/s", at)
        yield Figure(NAME, "booked, p99", p99, "ms", at, target=OVERLOAD_P99_MS if is_overload else None)
        yield Figure(NAME, "refused", goodput.refused / goodput.seconds, "requests/s", at)
    best = max(goodput.booked_per_second for goodput in goodputs.values())
    share = goodputs[max(TIMES)].booked_per_second / best
    yield Figure(
        NAME, "of the best", share, "ratio", {"connections": max(TIMES) * CONNECTIONS}, target=OVERLOAD_GOODPUT
    )


def _for(seconds: float) -> Callable[[], bool]:
    ends_at = time.perf_counter() + seconds
    return lambda: time.perf_counter() < ends_at


def _flooded(site: Site, bets: int) -> Iterator[Figure]:
    """Have one casino send all it can while another books bets one after another."""
    key = servers.add_casino(site.service, f"other-{bets}", table=f"{OTHERS_TABLE}-{bets}")
    other = replace(site.service, key=key)
    site.log(f"overload: a flood of batches of {bets}, and another casino")
    requests = BetRequests(other, bets=1, tables=[f"{OTHERS_TABLE}-{bets}"])
    with _flood(site.service.port, BetRequests(site.service, bets=bets), connections=max(TIMES) * CONNECTIONS):
        time.sleep(1)
        stopwatch, booked = Stopwatch(), 0
        with wire.connect(site.service.port) as connection:
            for _ in range(BETS_OF_OTHERS):
                began_ns = time.perf_counter_ns()
                answer = wire.ask(connection, requests.make(0), expected=_ANSWER)
                stopwatch.take(began_ns=began_ns, ended_ns=time.perf_counter_ns())
                booked += answer.startswith(CREATED)
    at = {"N": bets}
    yield Figure(NAME, "another casino's bets that were booked", booked, "bets", at, target=OTHERS_BETS)
    p95 = stopwatch.latencies().percentile_ms(95)
    yield Figure(NAME, "another casino's bets, p95", p95, "ms", at, target=OTHERS_P95_MS)


@contextmanager
def _flood(port: int, requests: BetRequests, *, connections: int) -> Iterator[None]:
    enough = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as thread:
        flooding = thread.submit(overload, port, requests, connections=connections, goes_on=lambda: not enough.is_set())
        try:
            yield
        finally:
            enough.set()
        flooding.result()


def overload(port: int, requests: BetRequests, *, connections: int, goes_on: Callable[[], bool]) -> Goodput:
    """
    Keep so many requests in flight, whatever is answered, and wait for the last.

    Raises: LoadFailed for an answer that is neither a booking nor a refusal for now, or when a connection breaks.
    """
    booked, refused = Stopwatch(), 0
    give_up_at = time.perf_counter() + load.MOST_SECONDS
    with load.opened(port, connections, selectors.DefaultSelector()) as (selector, channels):
        began, in_flight = time.perf_counter(), len(channels)
        for channel in channels:
            channel.send(requests.make(channel.connection_no), since_ns=time.perf_counter_ns())
        while in_flight:
            for channel, answer in load.answers(selector, timeout=wire.PATIENCE_SECONDS, expected=_ANSWER):
                now_ns = time.perf_counter_ns()
                if answer.startswith(CREATED):
                    booked.take(began_ns=channel.since_ns, ended_ns=now_ns)
                else:
                    wire.require(answer, _BUSY)
                    refused += 1
                if goes_on() and time.perf_counter() < give_up_at:
                    channel.send(requests.make(channel.connection_no), since_ns=time.perf_counter_ns())
                else:
                    in_flight -= 1
        seconds = time.perf_counter() - began
    if not len(booked):
        raise LoadFailed("nothing was booked")
    return Goodput(seconds, booked.latencies(), refused)
