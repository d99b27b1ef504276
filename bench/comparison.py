"""
An A/B comparison of two checkouts: what a change costs, or brings.

Both services stand on one cluster and are asked in turns, a moment each, first the one and then the other first. So a
machine that grows slower or faster meanwhile does so for both, and their ratio is steadier than either figure. The
books of this checkout are verified in the end, not those of the other.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from bench import databases, load, servers
from bench.figures import Figure
from bench.load import Load
from bench.requests import BetRequests
from bench.servers import Server
from bench.site import Site
from bench.targets import COMPARED_CONNECTIONS, COMPARED_LARGE, COMPARED_P50, COMPARED_SMALL, LARGE_BATCH

NAME = "comparison"

TURNS_BETWEEN_CHECKPOINTS = 9
"""Odd, so that after a checkpoint now the one and now the other is asked first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: the other checkout, batch sizes, how many turns of each, how long each."""

    checkout: Path
    sizes: tuple[int, ...]
    turns: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as much one did as another, and by how much that may be wrong (two standard errors)."""

    value: float
    error: float


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Compare what was measured in turns, pair by pair; there must be two pairs at least."""
    value = sum(ours) / sum(theirs)
    left = [own - value * other for own, other in zip(ours, theirs, strict=True)]
    return Ratio(value, 2 * statistics.stdev(left) / sqrt(len(left)) / statistics.mean(theirs))


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure every batch size at both. Raises: ServerFailed, LoadFailed."""
    site.log(f"setting up the service of {plan.checkout}")
    with (
        databases.directory() as directory,
        servers.service(databases.create(site.cluster, "bench_other"), directory, checkout=plan.checkout) as other,
    ):
        sizes = tuple(figure for bets in plan.sizes for figure in _size(site, plan, other, bets))
        return (*sizes, *_alone(site, plan, other))


def _size(site: Site, plan: Plan, other: Server, bets: int) -> Iterator[Figure]:
    site.log(f"comparison: N={bets}")
    ours, theirs = _in_turns(site, plan, other, bets=bets, connections=COMPARED_CONNECTIONS)
    rates = [[load_.requests_per_second * bets for load_ in loads] for loads in (ours, theirs)]
    at = {"N": bets, "connections": COMPARED_CONNECTIONS}
    target = COMPARED_LARGE if bets >= LARGE_BATCH else COMPARED_SMALL
    found_ratio = ratio(*rates)
    yield Figure(NAME, "ours", statistics.mean(rates[0]), "bets/s", at)
    yield Figure(NAME, "the other", statistics.mean(rates[1]), "bets/s", at)
    yield Figure(NAME, "ours of the other", found_ratio.value, "share", at, target)
    yield Figure(NAME, "give or take", found_ratio.error, "share", at)


def _alone(site: Site, plan: Plan, other: Server) -> Iterator[Figure]:
    """Compare how long a bet takes when nothing else is asked: here less is better."""
    site.log("comparison: a bet alone")
    both = _in_turns(site, plan, other, bets=1, connections=1)
    p50s = [[load_.latencies.percentile_ms(50) for load_ in loads] for loads in both]
    at = {"N": 1, "connections": 1}
    found_ratio = ratio(*p50s)
    yield Figure(NAME, "ours p50", statistics.mean(p50s[0]), "ms", at)
    yield Figure(NAME, "the other p50", statistics.mean(p50s[1]), "ms", at)
    yield Figure(NAME, "ours p50 to the other", found_ratio.value, "times", at, COMPARED_P50)
    yield Figure(NAME, "give or take", found_ratio.error, "times", at)


def _in_turns(site: Site, plan: Plan, other: Server, *, bets: int, connections: int) -> tuple[list[Load], list[Load]]:
    """Load both in turns, and return what was found of ours and of the other."""
    both = (site.service, other)
    requests = [BetRequests(server, bets=bets) for server in both]
    loads: tuple[list[Load], list[Load]] = ([], [])
    for turn in range(plan.turns):
        if turn % TURNS_BETWEEN_CHECKPOINTS == 0:
            for server, server_requests in zip(both, requests, strict=True):
                site.warm_up(server, server_requests, connections=connections)
        for turn_of in (0, 1) if turn % 2 else (1, 0):
            port = both[turn_of].port
            loads[turn_of].append(load.run(port, requests[turn_of], connections=connections, seconds=plan.seconds))
    return loads
