"""
One checkout beside another: what a change costs, or brings.

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
from bench.requests import BetRequests
from bench.site import Site
from bench.targets import BESIDE, COMPARED_CONNECTIONS

NAME = "beside"

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


def ratio(ours: Sequence[float], others: Sequence[float]) -> Ratio:
    """Compare what was measured in turns, pair by pair; there must be two pairs at least."""
    value = sum(ours) / sum(others)
    left = [one - value * other for one, other in zip(ours, others, strict=True)]
    return Ratio(value, 2 * statistics.stdev(left) / sqrt(len(left)) / statistics.mean(others))


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure every batch size at both. Raises: ServerFailed, LoadFailed."""
    site.tell(f"setting up the service of {plan.checkout}")
    with (
        databases.directory() as directory,
        servers.service(databases.create(site.cluster, "bench_other"), directory, checkout=plan.checkout) as other,
    ):
        return tuple(figure for bets in plan.sizes for figure in _size(site, plan, other, bets))


def _size(site: Site, plan: Plan, other: servers.Server, bets: int) -> Iterator[Figure]:
    site.tell(f"beside: N={bets}")
    both = (site.service, other)
    requests = [BetRequests(server, bets=bets) for server in both]
    rates: tuple[list[float], list[float]] = ([], [])
    for turn in range(plan.turns):
        if turn % TURNS_BETWEEN_CHECKPOINTS == 0:
            for server, asked in zip(both, requests, strict=True):
                site.warm_up(server, asked, connections=COMPARED_CONNECTIONS)
        for whose in (0, 1) if turn % 2 else (1, 0):
            found = load.run(both[whose].port, requests[whose], connections=COMPARED_CONNECTIONS, seconds=plan.seconds)
            rates[whose].append(found.requests_per_second * bets)
    at = {"N": bets, "connections": COMPARED_CONNECTIONS}
    found_ratio = ratio(*rates)
    yield Figure(NAME, "ours", statistics.mean(rates[0]), "bets/s", at)
    yield Figure(NAME, "the other", statistics.mean(rates[1]), "bets/s", at)
    yield Figure(NAME, "ours of the other", found_ratio.value, "share", at, BESIDE)
    yield Figure(NAME, "give or take", found_ratio.error, "share", at)
