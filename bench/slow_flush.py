"""
How fast bets are taken in where a flush takes two milliseconds more: an ordinary disk, or a replica's answer.

It is emulated by PostgreSQL's own `commit_delay`, see `databases.slow_flushes`; that one client's commit does take so
much longer is measured before anything else. The stripes decide how many entries can be on their way to the disk at
once, so the jackpots have one and sixteen of them; raw has sixteen, and as many clients as ours has connections.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bench import databases
from bench.figures import Figure
from bench.requests import BetRequests
from bench.site import Site

NAME = "slow-flush"

SIZES = (1, 7, 100)
STRIPES = (1, 16)
CONNECTIONS = 32
RAW_CLIENTS = (4, 32)
DELAY_US = 2000
LEAST_DELAY_MS = 1.8


@dataclass(frozen=True, slots=True)
class Plan:
    """How long each measurement."""

    seconds: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure raw and ours with slow flushes. Raises: RuntimeError if they are not slower as they should be."""
    tables = {stripes: site.striped_tables(stripes) for stripes in STRIPES}
    usual_ms = databases.commit_ms(site.cluster)
    with databases.slow_flushes(site.cluster, delay_us=DELAY_US):
        slow_ms = databases.commit_ms(site.cluster)
        if slow_ms - usual_ms < LEAST_DELAY_MS:
            raise RuntimeError(f"a commit takes at least {slow_ms:.2f} ms with slow flushes, {usual_ms:.2f} without")
        commits = (
            Figure(NAME, "one client's least commit, usual", usual_ms, "ms"),
            Figure(NAME, "one client's least commit, slow", slow_ms, "ms"),
        )
        return (*commits, *(figure for bets in SIZES for figure in _size(site, plan, bets, tables)))


def _size(site: Site, plan: Plan, bets: int, tables: dict[int, tuple[str, ...]]) -> Iterator[Figure]:
    site.log(f"slow-flush: N={bets}")
    raw = max(site.raw(bets=bets, seconds=plan.seconds, clients=clients).bets_per_second for clients in RAW_CLIENTS)
    yield Figure(NAME, "raw", raw, "bets/s", {"N": bets})
    for stripes in STRIPES:
        requests = BetRequests(site.service, bets=bets, tables=tables[stripes])
        load = site.load(site.service, requests, connections=CONNECTIONS, seconds=plan.seconds)
        at = {"N": bets, "stripes": stripes}
        yield Figure(NAME, "ours", load.requests_per_second * bets, "bets/s", at)
        yield Figure(NAME, "ours p50", load.latencies.percentile_ms(50), "ms", at)
        yield Figure(NAME, "ours of raw", load.requests_per_second * bets / raw, "share", at)
