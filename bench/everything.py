"""The measurements that need no large books and no other checkout, in some ten minutes, on one cluster."""

from functools import partial

from bench import flush, hits, ingest, latency, meters, overload, slow_flush
from bench.run import Measurement, repeated
from bench.targets import COMPARED_CONNECTIONS

INGEST_SIZES = (1, 7, 100, 1000)
INGEST_CONNECTIONS = (1, 8, COMPARED_CONNECTIONS)
INGEST_REPEATS = 3
LATENCY_REPEATS = 5
FLUSHES = 5


def measurements(seconds: float) -> tuple[Measurement, ...]:
    """Make them all; most figures take so many seconds, and those that need more of them a few times as many."""
    ingest_plan = ingest.Plan(INGEST_SIZES, INGEST_CONNECTIONS, seconds)
    return (
        repeated(partial(ingest.measure, plan=ingest_plan), repeats=INGEST_REPEATS),
        repeated(partial(latency.measure, plan=latency.Plan(seconds)), repeats=LATENCY_REPEATS),
        partial(hits.measure, plan=hits.Plan(6 * seconds)),
        partial(flush.measure, plan=flush.Plan(FLUSHES)),
        partial(meters.measure, plan=meters.Plan(seconds)),
        partial(slow_flush.measure, plan=slow_flush.Plan(seconds)),
        partial(overload.measure, plan=overload.Plan(2 * seconds)),
    )
