"""How much of the database a statement reads, by its explained plan."""

import re
from typing import Final

_STEP: Final = re.compile(r"actual rows=(?P<rows>[\d.]+) loops=(?P<loops>\d+)")
_DROPPED: Final = re.compile(r"Rows Removed by [\w ]+: (?P<rows>\d+)")


def work_of(plan: str) -> int:
    """How many rows the busiest step of a plan passed on, or read and dropped: those of one loop, times its loops."""
    work, loops = [0.0], 0
    for line in plan.splitlines():
        if step := _STEP.search(line):
            loops = int(step["loops"])
        if rows := step or _DROPPED.search(line):
            work.append(float(rows["rows"]) * loops)
    assert loops, plan
    return round(max(work))
