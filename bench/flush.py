"""
How long a royal flush takes that 5,000 bettors share, and how long it holds everybody else up.

A light closed loop at another table tells the second: a bet needs one stripe, the hit holds all of them, so no stripe
was held for longer than the longest bet took that was in flight meanwhile.
"""

import statistics
from dataclasses import dataclass

from bench import load, table
from bench.batches import TABLES
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site
from bench.targets import LONGEST_STALL_MS, SHARED_BY_5000_SECONDS

NAME = "flush"

BETTORS = 5000
OTHERS_CONNECTIONS = 2
PAUSE_SECONDS = 0.3
"""From the last bet to the result, so that it meets a service at rest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many royal flushes."""

    rounds: int


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure some such rounds; the median of their results, and the longest of the others' bets."""
    site.log(f"flush: {plan.rounds} rounds of {BETTORS} bettors")
    other_tables, winning, *_ = TABLES
    requests = BetRequests(site.service, bets=1, tables=[other_tables])
    with table.opened(site.service, table=winning, bets=BETTORS) as winner:
        results, loaded = load.run_during(
            lambda: [winner.hit(after_seconds=PAUSE_SECONDS) for _ in range(plan.rounds)],
            site.service.port,
            requests,
            connections=OTHERS_CONNECTIONS,
        )
    at = {"bettors": BETTORS}
    seconds = statistics.median(result.seconds for result in results)
    longest_ms = max(loaded.latencies.longest_ms_between(result.began_ns, result.ended_ns) for result in results)
    return (
        Figure(NAME, "result, median", seconds, "s", at, SHARED_BY_5000_SECONDS),
        Figure(NAME, "longest bet elsewhere", longest_ms, "ms", at, LONGEST_STALL_MS),
    )
