"""
How far workers, stripes and processors carry: bets a second by the number of each, and what a larger machine should do.

The model takes what a bet costs with one worker: processor time of the workers, of PostgreSQL and of the load. A worker
uses one processor at most, all of them together no more than there are; neither a stripe nor a flush holds anybody up.
It predicts more workers, which is compared with what they do, and a large machine, whose load is supposed elsewhere.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bench import load as loads
from bench import processor, servers
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site

NAME = "workers"

SIZES = (1, 100)
WORKERS = (1, 2, 4)
STRIPES = (1, 4, 16)
CONNECTIONS = 32
LARGE = 16
"""The processors of a large machine."""

_MICRO = 1e6


@dataclass(frozen=True, slots=True)
class Plan:
    """How long each measurement."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The processor time of a bet, in seconds."""

    workers: float
    database: float
    load: float


def predicted(cost: Cost, *, workers: int, processors: int) -> float:
    """Return how many bets a second so many workers should take on a machine of so many processors."""
    return min(workers / cost.workers, processors / (cost.workers + cost.database + cost.load))


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure each number of workers, then each number of stripes."""
    return (*_by_workers(site, plan), *_by_stripes(site, plan))


def _by_workers(site: Site, plan: Plan) -> Iterator[Figure]:
    costs: dict[int, Cost] = {}
    for workers in WORKERS:
        log = site.directory / f"workers-{workers}.log"
        with servers.serving(site.service.database, log, key=site.service.key, workers=workers) as server:
            for bets in SIZES:
                site.log(f"workers: {workers}, N={bets}")
                requests = BetRequests(server, bets=bets)
                site.warm_up(server, requests, connections=CONNECTIONS)
                before = _used(server)
                load = loads.run(server.port, requests, connections=CONNECTIONS, seconds=plan.seconds)
                used = (after - since for after, since in zip(_used(server), before, strict=True))
                taken = load.requests_per_second * bets
                cost = Cost(*(seconds / (taken * plan.seconds) for seconds in used))
                yield from _figures(taken, cost, costs.setdefault(bets, cost), bets=bets, workers=workers)
    for bets, cost in costs.items():
        large = predicted(replace(cost, load=0), workers=LARGE, processors=LARGE)
        yield Figure(NAME, "bets by the model", large, "bets/s", {"N": bets, "workers": LARGE, "processors": LARGE})


def _figures(taken: float, cost: Cost, with_one: Cost, *, bets: int, workers: int) -> Iterator[Figure]:
    at = {"N": bets, "workers": workers}
    yield Figure(NAME, "bets", taken, "bets/s", at)
    yield Figure(NAME, "workers' time of a bet", cost.workers * _MICRO, "µs", at)
    yield Figure(NAME, "PostgreSQL's time of a bet", cost.database * _MICRO, "µs", at)
    yield Figure(NAME, "the load's time of a bet", cost.load * _MICRO, "µs", at)
    if workers > 1:
        model = predicted(with_one, workers=workers, processors=os.cpu_count() or 1)
        yield Figure(NAME, "bets by the model", model, "bets/s", at)
        yield Figure(NAME, "bets, of what the model says", taken / model, "share", at)


def _by_stripes(site: Site, plan: Plan) -> Iterator[Figure]:
    for stripes in STRIPES:
        tables = site.striped_tables(stripes)
        for bets in SIZES:
            site.log(f"workers: {stripes} stripes, N={bets}")
            requests = BetRequests(site.service, bets=bets, tables=tables)
            load = site.load(site.service, requests, connections=CONNECTIONS, seconds=plan.seconds)
            at = {"N": bets, "stripes": stripes}
            yield Figure(NAME, "bets", load.requests_per_second * bets, "bets/s", at)


def _used(server: servers.Server) -> tuple[float, float, float]:
    """The processor time in seconds that the workers, PostgreSQL and the load have used."""
    mine = os.times()
    return processor.workers_seconds(server), processor.database_seconds(server), mine.user + mine.system
