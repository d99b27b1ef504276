"""
An A/B comparison of two checkouts: what a change costs, or brings.

Both services stand on one cluster and are asked in turns, a moment each, first the one and then the other first. So a
machine that grows slower or faster meanwhile does so for both, and their ratio is steadier than either figure. The
books of this checkout are verified in the end, not those of the other.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path

from bench import databases, load, open_loop, servers
from bench.figures import Figure
from bench.latency import FEW, OF_ALONE
from bench.load import Load
from bench.requests import BetRequests, Requests
from bench.servers import Server
from bench.site import Site
from bench.targets import COMPARED_CONNECTIONS, COMPARED_LARGE, COMPARED_P50, COMPARED_SMALL, LARGE_BATCH, Target

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
        pair = _Pair(site, plan, other)
        return (*pair.alone(), *(figure for bets in plan.sizes for figure in pair.size(bets)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Both services, as they are asked in turns."""

    site: Site
    plan: Plan
    other: Server

    def alone(self) -> Iterator[Figure]:
        """Compare how long a bet takes when nothing else is asked: here less is better."""
        yield from self._p50s(1, connections=1, target=COMPARED_P50)

    def size(self, bets: int) -> Iterator[Figure]:
        """Compare what is taken in, and how long it takes for a few who ask at once, and at parts of that."""
        ours, theirs = self._rates(bets)
        at: Mapping[str, int] = {"N": bets, "connections": COMPARED_CONNECTIONS}
        target = COMPARED_LARGE if bets >= LARGE_BATCH else COMPARED_SMALL
        yield from _both(
            "", "bets/s", [rate * bets for rate in ours], [rate * bets for rate in theirs], at=at, target=target
        )
        yield from self._p50s(bets, connections=FEW)
        for percent, percentile in OF_ALONE:
            rate = statistics.mean(theirs) * percent / 100
            yield from self._percentiles(bets, percent, percentile, rate=rate)

    def _rates(self, bets: int) -> tuple[list[float], list[float]]:
        self.site.log(f"comparison: N={bets}")
        loads = self._in_turns(bets, COMPARED_CONNECTIONS, self._closed(COMPARED_CONNECTIONS))
        return _figures_of_both(loads, lambda load_: load_.requests_per_second)

    def _p50s(self, bets: int, *, connections: int, target: Target | None = None) -> Iterator[Figure]:
        self.site.log(f"comparison: N={bets}, {connections} at once")
        loads = self._in_turns(bets, connections, self._closed(connections))
        p50s = _figures_of_both(loads, lambda load_: load_.latencies.percentile_ms(50))
        yield from _both("p50", "ms", *p50s, at={"N": bets, "connections": connections}, target=target)

    def _percentiles(self, bets: int, percent: int, percentile: float, *, rate: float) -> Iterator[Figure]:
        """Both are asked at the same rate, a part of what the other takes in."""
        self.site.log(f"comparison: N={bets}, {percent} % of the other's {rate * 100 / percent:,.0f} requests/s")
        due_ns = open_loop.schedule(rate, self.plan.seconds)
        loads = self._in_turns(bets, open_loop.CONNECTIONS, partial(_open, due_ns=due_ns))
        percentiles = _figures_of_both(loads, lambda load_: load_.latencies.percentile_ms(percentile))
        yield from _both(f"p{percentile:g}", "ms", *percentiles, at={"N": bets, "load_percent": percent})

    def _closed(self, connections: int) -> Callable[[int, Requests], Load]:
        return partial(load.run, connections=connections, seconds=self.plan.seconds)

    def _in_turns(
        self, bets: int, connections: int, ask: Callable[[int, Requests], Load]
    ) -> tuple[list[Load], list[Load]]:
        """Load both in turns, and return what was measured of ours and of the other."""
        both = (self.site.service, self.other)
        requests = [BetRequests(server, bets=bets) for server in both]
        loads: tuple[list[Load], list[Load]] = ([], [])
        for turn in range(self.plan.turns):
            if turn % TURNS_BETWEEN_CHECKPOINTS == 0:
                for server, server_requests in zip(both, requests, strict=True):
                    self.site.warm_up(server, server_requests, connections=connections)
            for turn_of in (0, 1) if turn % 2 else (1, 0):
                loads[turn_of].append(ask(both[turn_of].port, requests[turn_of]))
        return loads


def _open(port: int, requests: Requests, *, due_ns: Sequence[int]) -> Load:
    return open_loop.run(port, requests, due_ns=due_ns)


def _figures_of_both(
    loads: tuple[list[Load], list[Load]], figure: Callable[[Load], float]
) -> tuple[list[float], list[float]]:
    ours, theirs = loads
    return [figure(load_) for load_ in ours], [figure(load_) for load_ in theirs]


def _both(
    what: str,
    unit: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    at: Mapping[str, int],
    target: Target | None = None,
) -> Iterator[Figure]:
    compared = ratio(ours, theirs)
    yield Figure(NAME, f"ours {what}".strip(), statistics.mean(ours), unit, at)
    yield Figure(NAME, f"the other {what}".strip(), statistics.mean(theirs), unit, at)
    yield Figure(NAME, f"ours of the other {what}".strip(), compared.value, "times", at, target)
    yield Figure(NAME, "give or take", compared.error, "times", at)
