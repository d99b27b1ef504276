"""
How long bets are held up when the jackpot is hit, which locks every stripe: full load, and a hit once a second.

The load is at seven tables, the hits at the eighth. The same load without hits tells what of it is only the load.
"""

import time
from dataclasses import dataclass
from functools import partial

from bench import load, table
from bench.batches import TABLES
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site
from bench.table import Table
from bench.targets import LONGEST_STALL_MS

NAME = "hits"

CONNECTIONS = 32
BETS = 7
PERIOD_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, which is also how many hits."""

    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure the longest latency of a bet at another table, without and with hits."""
    *losing, winning = TABLES
    requests = BetRequests(site.service, bets=1, tables=losing)
    site.warm_up(site.service, requests, connections=CONNECTIONS)
    site.log("hits: none")
    during = partial(load.run_during, port=site.service.port, requests=requests, connections=CONNECTIONS)
    _, control = during(lambda: time.sleep(plan.seconds))
    site.log("hits: one a second")
    with table.opened(site.service, table=winning, bets=BETS) as winner:
        hits, loaded = during(lambda: _hit_for(winner, plan.seconds))
    return (
        Figure(NAME, "longest bet, no hits", control.latencies.longest_ms, "ms"),
        Figure(NAME, "longest bet, hits", loaded.latencies.longest_ms, "ms", target=LONGEST_STALL_MS),
        Figure(NAME, "bets, no hits", control.requests_per_second, "bets/s"),
        Figure(NAME, "bets, hits", loaded.requests_per_second, "bets/s"),
        Figure(NAME, "longest hit", max(hits), "ms"),
    )


def _hit_for(winner: Table, seconds: float) -> list[float]:
    """Hit once a period, and return how many milliseconds each hit took."""
    took_ms = []
    began_at = time.monotonic()
    while time.monotonic() - began_at < seconds:
        took_ms.append(winner.hit().seconds * 1e3)
        time.sleep(max(0.0, began_at + len(took_ms) * PERIOD_SECONDS - time.monotonic()))
    return took_ms
