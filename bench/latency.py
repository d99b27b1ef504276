"""
How long a bet takes at a given load: an open loop at parts of what the service can take in.

What it can take in is measured just before, by a closed loop, since it differs from machine to machine and from hour to
hour.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bench import databases, open_loop
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site

NAME = "latency"

SIZES = (1, 100)
LOAD_PERCENTS = (25, 50, 75)
PERCENTILES = (50, 99, 99.9)
CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure what can be taken in, and then each load."""

    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure every batch size at every load."""
    return tuple(figure for bets in SIZES for figure in _size(site, plan, bets))


def _size(site: Site, plan: Plan, bets: int) -> Iterator[Figure]:
    requests = BetRequests(site.service, bets=bets)
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
            yield Figure(NAME, f"p{percentile:g}", load.latencies.percentile_ms(percentile), "ms", at)
