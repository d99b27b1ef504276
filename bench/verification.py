"""
How long `jackpot verify` takes, and how much memory, as the books grow; and how long one takes that goes on from it.

The service loads the bets and is idle meanwhile. Memory is the most that the command's process held at a time.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench import load, servers
from bench.figures import Figure
from bench.requests import BetRequests, Requests
from bench.site import Site

NAME = "verification"

CONNECTIONS = 8
FRESH = 10
"""So many batches come in between a verification and the one that goes on from it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """At how many thousand bets to verify, in ascending order, and of how many bets each round is."""

    thousands: tuple[int, ...]
    bets: int


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Verify at every size. Raises: LoadFailed; RuntimeError if the books are not right."""
    return tuple(_sizes(site, plan))


def _sizes(site: Site, plan: Plan) -> Iterator[Figure]:
    requests, batches = BetRequests(site.service, bets=plan.bets), 0
    for thousands in plan.thousands:
        missing = thousands * 1000 // plan.bets - batches
        site.log(f"verification: loading {missing * plan.bets:,} bets")
        batches += load_batches(site.service.port, requests, missing)
        at = {"N": plan.bets, "thousands": thousands}
        seconds, peak_mb = _verify(site, "verify")
        yield Figure(NAME, "from zero", seconds, "s", at)
        yield Figure(NAME, "from zero, a million", seconds / (batches * plan.bets) * 1e6, "s", at)
        yield Figure(NAME, "peak memory", peak_mb, "MB", at)
        batches += load_batches(site.service.port, requests, FRESH)
        yield Figure(NAME, "from last", _verify(site, "verify", "--from-last")[0], "s", at)


def load_batches(port: int, requests: Requests, batches: int) -> int:
    """Load at least so many batches, however long it takes; returns how many there were. Raises: LoadFailed."""
    loaded = 0
    while (missing := batches - loaded) > 0:  # Each run ends after its longest time, whether or not all are loaded.
        connections = min(CONNECTIONS, missing)
        run = load.run(port, requests, connections=connections, seconds=load.MOST_SECONDS, most_requests=missing)
        loaded += run.requests
    return loaded


def _verify(site: Site, *arguments: str) -> tuple[float, float]:
    """Run the command; returns its seconds and its peak megabytes."""
    site.log(f"verification: jackpot {' '.join(arguments)}")
    began = time.perf_counter()
    with servers.started(site.service.database, arguments) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return time.perf_counter() - began, used.ru_maxrss / 1024
