"""What must be reached (floor) and what is reachable on this design (goal), as ratios within one run."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A floor that a build must not fall under, and a goal to work towards."""

    floor: float
    goal: float


# Share of raw pgbench, by bets a request.
OF_RAW: Mapping[int, Target] = {
    1: Target(floor=0.30, goal=0.75),
    7: Target(floor=0.30, goal=0.70),
    100: Target(floor=0.40, goal=0.70),
    1000: Target(floor=0.50, goal=0.80),
}

# Multiples of the naive application, by bets a request.
TIMES_NAIVE: Mapping[int, Target] = {
    100: Target(floor=50, goal=180),
}
