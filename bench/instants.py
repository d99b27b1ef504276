"""
What readers of current instants cost the bets: each read raises the stripes that have not passed its instant.

Reports of a past instant, which raise none, show what of it is only the reader's own work. The ways take turns.
"""

import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPConnection
from types import MappingProxyType

from bench import load, servers, wire
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site
from bench.wire import LoadFailed

NAME = "instants"

CONNECTIONS = 32
REPORT = "/v1/reports/trial-balance"

ALONE, PAST, CURRENT = "no reader", "a reader of a past instant", "a reader of current instants"
BY_WAY: Mapping[str, str] = MappingProxyType({PAST: f"{REPORT}?as_of={{past}}", CURRENT: REPORT})
"""What is read in each way, one report after another; without an instant it is that of the call."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to bet in each way and turn."""

    seconds: float
    turns: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What one way and turn came to."""

    p50_ms: float
    reads_per_second: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure the median of a bet's latency in each way, and the ratios."""
    requests = BetRequests(site.service, bets=1)
    site.warm_up(site.service, requests, connections=CONNECTIONS)
    key, past = servers.add_key(site.service.database, "finance"), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    turns: dict[str, list[Turn]] = {ALONE: [], PAST: [], CURRENT: []}
    for number in range(plan.turns):
        for way, done in turns.items():
            site.log(f"instants: {way}, turn {number + 1} of {plan.turns}")
            path = BY_WAY.get(way, "").format(past=past)
            act = partial(_read_for, plan.seconds, port=site.service.port, key=key, path=path)
            reads, loaded = load.run_during(act, site.service.port, requests, connections=CONNECTIONS)
            done.append(Turn(loaded.latencies.percentile_ms(50), reads / plan.seconds))
    return tuple(_figures(turns))


def _read_for(seconds: float, *, port: int, key: str, path: str) -> int:
    """Read one report after another for some time, or none without a path; returns how many. Raises: LoadFailed."""
    if not path:
        time.sleep(seconds)
        return 0
    reads, until = 0, time.monotonic() + seconds
    with closing(HTTPConnection(wire.HOST, port, timeout=wire.PATIENCE_SECONDS)) as connection:
        while time.monotonic() < until:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:  # noqa: PLR2004
                raise LoadFailed(f"{path} was answered {answer.status}: {body[:200]!r}")
            reads += 1
    return reads


def _figures(turns: Mapping[str, list[Turn]]) -> Iterator[Figure]:
    p50 = {way: statistics.median(turn.p50_ms for turn in done) for way, done in turns.items()}
    for way, done in turns.items():
        yield Figure(NAME, f"bets, p50, {way}", p50[way], "ms")
        if way in BY_WAY:
            reads = statistics.median(turn.reads_per_second for turn in done)
            yield Figure(NAME, f"reports, {way}", reads, "reports/s")
    yield Figure(NAME, "p50, current instants to no reader", p50[CURRENT] / p50[ALONE], "ratio")
    yield Figure(NAME, "p50, current instants to a past one", p50[CURRENT] / p50[PAST], "ratio")
