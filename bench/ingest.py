"""
How fast bets are taken in: the service over HTTP, raw pgbench and the naive application, side by side.

All three write durably to the same cluster, one after another for each batch size, so that a machine that grows slower
or faster meanwhile does so for all of them. What counts is their ratio within one run.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import URL

from bench import databases, load, machine, raw, servers
from bench.load import Load
from bench.raw import Raw
from bench.servers import Server

LARGEST = 2000

# The naive application takes one bet at a time, whatever is in flight: more large requests would only lengthen the
# queue, and at a thousand bets a request there is nothing new to see.
NAIVE_LARGEST_BATCH = 100
NAIVE_LEAST_CONNECTIONS = 8
NAIVE_MOST_QUEUED_BETS = 500

WARM_UP_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """One batch size, measured once on all three; `naive` is None where it is not worth the time."""

    bets: int
    raw: Raw
    ours: Load
    naive: Load | None

    @property
    def of_raw(self) -> float:
        """Our share of what the engine alone does."""
        return self.ours.bets_per_second / self.raw.bets_per_second

    @property
    def times_naive(self) -> float | None:
        """How many times the naive application's bets we take in."""
        return None if self.naive is None else self.ours.bets_per_second / self.naive.bets_per_second


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: batch sizes, how long each, how many requests in flight, how often all of it."""

    sizes: tuple[int, ...]
    seconds: float
    connections: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """All samples, what they were measured on, and what the books said at the end."""

    plan: Plan
    machine: dict[str, object]
    database: dict[str, str]
    samples: tuple[Sample, ...]
    books_clean: bool
    verdict: str


def run(plan: Plan, *, tell: Callable[[str], None]) -> Outcome:
    """
    Measure everything on a cluster of its own, which is gone afterwards.

    Raises: ServerFailed, LoadFailed, RuntimeError when one of the three cannot be measured.
    """
    with ExitStack() as stack:
        directory = stack.enter_context(databases.directory())
        described = machine.describe(directory)
        cluster = stack.enter_context(databases.cluster(directory / "data"))
        settings = databases.settings(cluster)
        scratch, books = raw.create(cluster), databases.create(cluster, "bench_service")
        tell("setting up the service")
        ours = stack.enter_context(servers.service(books, directory))
        naive_url = databases.create(cluster, "bench_naive")
        naive = stack.enter_context(servers.naive_application(naive_url, directory))
        samples = _measure(plan, scratch, ours, naive, tell)
        tell("verifying the books")
        books_clean, verdict = servers.verify(books)
        return Outcome(plan, described, settings, samples, books_clean, verdict)


def _measure(plan: Plan, scratch: URL, ours: Server, naive: Server, tell: Callable[[str], None]) -> tuple[Sample, ...]:
    samples = []
    for repeat in range(plan.repeats):
        for bets in plan.sizes:
            tell(f"measuring N={bets}" + (f", round {repeat + 1} of {plan.repeats}" if plan.repeats > 1 else ""))
            samples.append(_sample(plan, bets, scratch, ours, naive))
    return tuple(samples)


def _sample(plan: Plan, bets: int, scratch: URL, ours: Server, naive: Server) -> Sample:
    """Measure one batch size: raw before and after ours, then the naive application."""
    few, many = raw.CLIENTS
    before = _raw(plan, bets, scratch, clients=few)
    our_load = _load(plan, bets, ours, connections=plan.connections)
    after = _raw(plan, bets, scratch, clients=many)
    best = max(before, after, key=lambda one: one.bets_per_second)
    if bets > NAIVE_LARGEST_BATCH:
        return Sample(bets, best, our_load, naive=None)
    naive_connections = min(plan.connections, max(NAIVE_LEAST_CONNECTIONS, NAIVE_MOST_QUEUED_BETS // bets))
    return Sample(bets, best, our_load, _load(plan, bets, naive, connections=naive_connections))


def _raw(plan: Plan, bets: int, scratch: URL, *, clients: int) -> Raw:
    databases.execute(scratch, "CHECKPOINT")
    return raw.measure(scratch, bets=bets, seconds=plan.seconds, clients=clients)


def _load(plan: Plan, bets: int, server: Server, *, connections: int) -> Load:
    load.run(port=server.port, key=server.key, bets=bets, connections=connections, seconds=WARM_UP_SECONDS)
    databases.execute(server.database, "CHECKPOINT")
    return load.run(port=server.port, key=server.key, bets=bets, connections=connections, seconds=plan.seconds)
