"""How long the requests of a run took: percentiles, and the longest of them."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Latencies:
    """When each request began, by `time.perf_counter_ns()`, and how long it took, in the order of the answers."""

    began_ns: Sequence[int]
    took_ns: Sequence[int]

    def percentile_ms(self, percent: float) -> float:
        """Take the nearest rank: the least latency that so many per cent of all do not exceed."""
        rank = -(-len(self._ordered) * round(percent * 1000) // 100_000)
        return self._ordered[rank - 1] / 1e6

    @property
    def longest_ms(self) -> float:
        """The longest latency of all."""
        return self._ordered[-1] / 1e6

    def longest_ms_between(self, began_ns: int, ended_ns: int) -> float:
        """Return the longest latency of the requests that were in flight at any time of an interval; 0 if none was."""
        overlapping = (
            took for began, took in zip(self.began_ns, self.took_ns, strict=True) if began_ns - took < began < ended_ns
        )
        return max(overlapping, default=0) / 1e6

    @cached_property
    def _ordered(self) -> Sequence[int]:
        return sorted(self.took_ns)


class Stopwatch:
    """What writes latencies down, request by request."""

    def __init__(self) -> None:
        self._began_ns = array("q")
        self._took_ns = array("q")

    def __len__(self) -> int:
        """How many were taken."""
        return len(self._took_ns)

    def take(self, *, began_ns: int, ended_ns: int) -> None:
        """Write down one request."""
        self._began_ns.append(began_ns)
        self._took_ns.append(ended_ns - began_ns)

    def latencies(self) -> Latencies:
        """Return what was written down."""
        return Latencies(self._began_ns, self._took_ns)
