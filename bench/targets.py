"""What must be reached (floor) and what is reachable on this design (goal): most are ratios within one run."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A floor not to fall short of, and a goal to work towards; where the goal is below the floor, less is better."""

    floor: float
    goal: float

    def is_reached_by(self, value: float) -> bool:
        """Return whether a figure is at its floor or on the goal's side of it."""
        return value <= self.floor if self.goal < self.floor else value >= self.floor


COMPARED_CONNECTIONS = 32
"""Ratios have targets at so many requests in flight only."""

# Share of raw pgbench, by bets a request.
OF_RAW: Mapping[int, Target] = {
    1: Target(floor=0.50, goal=0.75),
    7: Target(floor=0.50, goal=0.70),
    100: Target(floor=0.50, goal=0.70),
    1000: Target(floor=0.65, goal=0.80),
}

# Multiples of the naive application, by bets a request.
TIMES_NAIVE: Mapping[int, Target] = {
    1: Target(floor=6, goal=11),
    100: Target(floor=100, goal=180),
}

# Milliseconds at one connection, by bets a request.
P50_ALONE_MS: Mapping[int, Target] = {
    1: Target(floor=1.5, goal=1),
    100: Target(floor=3, goal=2),
}

P50_OF_RAW = Target(floor=3.5, goal=2.5)
"""At eight connections, as a multiple of raw pgbench's at as many clients."""

P50_AT_A_QUARTER = Target(floor=2.5, goal=2)
"""At a quarter of what can be taken in, as a multiple of that at one connection alone."""

P99_AT_HALF = Target(floor=15, goal=10)
"""The 99th percentile at half of what can be taken in, as a multiple of the p50 at one connection alone."""

LONGEST_STALL_MS = Target(floor=250, goal=50)
"""Of a bet at another table, while the jackpot is hit."""

SHARED_BY_5000_SECONDS = Target(floor=1, goal=0.2)
"""From the result of a royal flush to its answer."""

METER_PER_SECOND = Target(floor=5_000, goal=5_000)
CACHED_METER_PER_SECOND = Target(floor=5_000, goal=15_000)

DISPLAYS_OF_A_CORE = Target(floor=0.05, goal=0.02)
"""What two thousand displays may use of a core in each worker, above what it uses without them."""

DISPLAYS_OF_P99 = Target(floor=1.1, goal=1)
"""The 99th percentile of a bet while displays look on, of that without them."""

OF_EMPTY = Target(floor=0.85, goal=0.95)
"""Ingest at many million bets, as a share of ingest at an empty database."""

COMPARED_SMALL = Target(floor=0.95, goal=1)
COMPARED_LARGE = Target(floor=0.98, goal=1)
"""Ingest of this checkout, as a share of that of one without what was added since: small batches, and large ones."""

LARGE_BATCH = 100
"""Bets of a batch for which the second floor holds."""

COMPARED_P50 = Target(floor=1.1, goal=1)
"""A bet's p50 at one connection alone, as a multiple of the other checkout's."""

REPORT_MS = Target(floor=250, goal=50)
"""Any finance report of a month, whole or up to an instant inside a day, over up to ten million bets."""

FIRST_PAINT_MS = Target(floor=300, goal=100)
"""Of any page, over up to ten million bets."""

OVERLOAD_GOODPUT = Target(floor=0.9, goal=1)
"""What is booked at ten times the connections, as a share of the best."""

OVERLOAD_P99_MS = Target(floor=1_000, goal=250)
"""Of what is booked at ten times the connections."""

REFUSAL_OF_BET = Target(floor=0.2, goal=0.1)
"""Processor time, of workers and PostgreSQL, for a call that is refused; as a share of that of a bet alone."""

OTHERS_BETS = Target(floor=50, goal=50)
OTHERS_P95_MS = Target(floor=250, goal=50)
"""Of a casino's bets while another floods the service."""
