"""
How fast bets are taken in: the service over HTTP, raw pgbench and the naive application, side by side.

All three write durably to the same cluster, one after another for each batch size, so that a machine that grows slower
or faster meanwhile does so for all of them. What counts is their ratio within one run.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bench import raw
from bench.figures import Figure
from bench.load import Load
from bench.requests import BetRequests
from bench.site import Site
from bench.targets import COMPARED_CONNECTIONS, OF_RAW, P50_ALONE_MS, TIMES_NAIVE

NAME = "ingest"
LARGEST = 2000

# The naive application takes one bet at a time, whatever is in flight: more large requests would only lengthen the
# queue, and at a thousand bets a request there is nothing new to see.
NAIVE_LARGEST_BATCH = 100
NAIVE_LEAST_CONNECTIONS = 8
NAIVE_MOST_QUEUED_BETS = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: batch sizes, requests in flight, how long each."""

    sizes: tuple[int, ...]
    connections: tuple[int, ...]
    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure every batch size on all three."""
    return tuple(figure for bets in plan.sizes for figure in _size(site, plan, bets))


def _size(site: Site, plan: Plan, bets: int) -> Iterator[Figure]:
    """Measure one batch size: what is compared close together, then ours with fewer or more requests in flight."""
    site.log(f"ingest: N={bets}")
    if COMPARED_CONNECTIONS in plan.connections:
        yield from _compared(site, plan, bets)
    for connections in plan.connections:
        if connections != COMPARED_CONNECTIONS:
            yield from _figures_of_load("ours", _ours(site, plan, bets, connections), bets, connections)


def _compared(site: Site, plan: Plan, bets: int) -> Iterator[Figure]:
    """Measure raw before and after ours, then the naive application where it is worth the time."""
    few, many = raw.CLIENTS
    before = site.raw(bets=bets, seconds=plan.seconds, clients=few)
    ours = _ours(site, plan, bets, COMPARED_CONNECTIONS)
    after = site.raw(bets=bets, seconds=plan.seconds, clients=many)
    best_raw = max(before.bets_per_second, after.bets_per_second)
    at = {"N": bets, "connections": COMPARED_CONNECTIONS}
    yield Figure(NAME, "raw", best_raw, "bets/s", {"N": bets})
    yield from _figures_of_load("ours", ours, bets, COMPARED_CONNECTIONS)
    yield Figure(NAME, "ours of raw", ours.requests_per_second * bets / best_raw, "share", at, OF_RAW.get(bets))
    if bets <= NAIVE_LARGEST_BATCH:
        connections = min(COMPARED_CONNECTIONS, max(NAIVE_LEAST_CONNECTIONS, NAIVE_MOST_QUEUED_BETS // bets))
        requests = BetRequests(site.naive, bets=bets)
        naive = site.load(site.naive, requests, connections=connections, seconds=plan.seconds)
        yield from _figures_of_load("naive", naive, bets, connections)
        times = ours.requests_per_second / naive.requests_per_second
        yield Figure(NAME, "ours to naive", times, "times", at, TIMES_NAIVE.get(bets))


def _ours(site: Site, plan: Plan, bets: int, connections: int) -> Load:
    requests = BetRequests(site.service, bets=bets)
    return site.load(site.service, requests, connections=connections, seconds=plan.seconds)


def _figures_of_load(server: str, load: Load, bets: int, connections: int) -> Iterator[Figure]:
    at = {"N": bets, "connections": connections}
    p50_target = P50_ALONE_MS.get(bets) if (server, connections) == ("ours", 1) else None
    yield Figure(NAME, server, load.requests_per_second * bets, "bets/s", at)
    yield Figure(NAME, f"{server} p50", load.latencies.percentile_ms(50), "ms", at, p50_target)
    yield Figure(NAME, f"{server} p99", load.latencies.percentile_ms(99), "ms", at)
