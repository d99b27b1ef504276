"""
How ingest holds up as the books grow: at an empty database, and at many million bets taken in by the service itself.

Loading takes minutes, in which the machine itself may grow slower or faster: raw, whose tables are empty each time,
tells by how much.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from bench import load
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site
from bench.targets import OF_EMPTY

NAME = "growth"

BETS = 100
CONNECTIONS = 32
RUNS = 3
RAW_CLIENTS = 4
LOADING_BETS = 1000
LOADING_CONNECTIONS = 8
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """At how many million bets to measure, in ascending order, and how long each run."""

    millions: tuple[int, ...]
    seconds: float


class _Books:
    """The service, and how many bets it has taken in."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._bets = 0

    def fill(self, bets: int) -> None:
        """Take in bets in large batches until there are so many. Raises: LoadFailed if that takes too long."""
        requests = BetRequests(self._site.service, bets=LOADING_BETS)
        while (missing := bets - self._bets) > 0:
            self._site.log(f"growth: {self._bets:,} bets, loading {missing:,}")
            loaded = load.run(
                self._site.service.port,
                requests,
                connections=min(LOADING_CONNECTIONS, -(-missing // LOADING_BETS)),
                seconds=load.MOST_SECONDS,
                most_requests=-(-missing // LOADING_BETS),
            )
            self._bets += loaded.requests * LOADING_BETS

    def measure(self, seconds: float) -> float:
        """Return how many bets a second they take in now."""
        requests = BetRequests(self._site.service, bets=BETS)
        warmed = self._site.warm_up(self._site.service, requests, connections=CONNECTIONS)
        measured = load.run(self._site.service.port, requests, connections=CONNECTIONS, seconds=seconds)
        self._bets += (warmed.requests + measured.requests) * BETS
        return measured.requests_per_second * BETS


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure at every size; the first is what the others are compared with."""
    return tuple(_sizes(site, plan))


def _sizes(site: Site, plan: Plan) -> Iterator[Figure]:
    books, first = _Books(site), 0.0
    for millions in plan.millions:
        books.fill(millions * MILLION)
        site.log(f"growth: measuring at {millions} million bets")
        raw = site.raw(bets=BETS, seconds=plan.seconds, clients=RAW_CLIENTS).bets_per_second
        ours = statistics.median(books.measure(plan.seconds) for _ in range(RUNS))
        first = first or ours
        at = {"N": BETS, "millions": millions}
        yield Figure(NAME, "raw", raw, "bets/s", at)
        yield Figure(NAME, "ours", ours, "bets/s", at)
        if millions != plan.millions[0]:
            yield Figure(NAME, "ours of first", ours / first, "share", at, OF_EMPTY)
