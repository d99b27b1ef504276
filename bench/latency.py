"""
How long a bet takes at a given load: an open loop at parts of what the service can take in.

What it can take in is measured just before, by a closed loop, since it differs from machine to machine and from hour to
hour. So are a bet alone, and a few at once, these next to what PostgreSQL takes for as many clients of pgbench.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench import databases, open_loop
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site
from bench.targets import P50_AT_A_QUARTER, P50_OF_RAW, P99_AT_HALF, Target

NAME = "latency"

SIZES = (1, 100)
LOAD_PERCENTS = (25, 50, 75)
PERCENTILES = (50, 99, 99.9)
CONNECTIONS = 32
FEW = 8
"""Connections that ask at once where the database alone is measured too."""

OF_ALONE: Mapping[tuple[int, float], Target] = {(25, 50): P50_AT_A_QUARTER, (50, 99): P99_AT_HALF}
"""Which percentile at which load has a target as a multiple of a bet alone."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure what can be taken in, and then each load."""

    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure every batch size at every load."""
    return tuple(figure for bets in SIZES for figure in _size(site, plan, bets))


def _size(site: Site, plan: Plan, bets: int) -> Iterator[Figure]:
    requests = BetRequests(site.service, bets=bets)
    site.log(f"latency: N={bets}, one and {FEW} connections, beside raw")
    alone_ms = _p50_ms(site, requests, plan, connections=1)
    few_ms = _p50_ms(site, requests, plan, connections=FEW)
    raw_ms = site.raw_p50_ms(bets=bets, seconds=plan.seconds, clients=FEW)
    at_few = {"N": bets, "connections": FEW}
    yield Figure(NAME, "p50 alone", alone_ms, "ms", {"N": bets, "connections": 1})
    yield Figure(NAME, "p50 of few at once", few_ms, "ms", at_few)
    yield Figure(NAME, "p50 of raw", raw_ms, "ms", at_few)
    yield Figure(NAME, "p50, of raw", few_ms / raw_ms, "times", at_few, P50_OF_RAW)
    site.log(f"latency: N={bets}, closed loop")
    most = site.load(site.service, requests, connections=CONNECTIONS, seconds=plan.seconds).requests_per_second
    for percent in LOAD_PERCENTS:
        site.log(f"latency: N={bets}, {percent} % of {most:,.0f} requests/s")
        rate = most * percent / 100
        databases.execute(site.service.database, "CHECKPOINT")
        load = open_loop.run(site.service.port, requests, due_ns=open_loop.schedule(rate, plan.seconds))
        at = {"N": bets, "load_percent": percent}
        yield Figure(NAME, "rate", rate, "requests/s", at)
        for percentile in PERCENTILES:
            ms = load.latencies.percentile_ms(percentile)
            yield Figure(NAME, f"p{percentile:g}", ms, "ms", at)
            if (percent, percentile) in OF_ALONE:
                target = OF_ALONE[percent, percentile]
                yield Figure(NAME, f"p{percentile:g}, of p50 alone", ms / alone_ms, "times", at, target)


def _p50_ms(site: Site, requests: BetRequests, plan: Plan, *, connections: int) -> float:
    load = site.load(site.service, requests, connections=connections, seconds=plan.seconds)
    return load.latencies.percentile_ms(50)
