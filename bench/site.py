"""
What measurements share: one cluster with a database for each contender, the service, and the naive application.

Each is set up when a measurement first asks for it, and stopped at the end.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from sqlalchemy import URL

from bench import databases, load, machine, raw, servers
from bench.load import Load
from bench.raw import Raw
from bench.requests import Requests
from bench.servers import Server

_WARM_UP_SECONDS = 0.5
_TABLES_OF_OTHERS = 2


class Site:
    """The contenders on their one cluster."""

    def __init__(self, stack: ExitStack, *, directory: Path, cluster: URL, log: Callable[[str], None]) -> None:
        self._stack = stack
        self.directory = directory
        self.cluster = cluster
        self.log = log
        self._tables_by_stripes: dict[int, tuple[str, ...]] = {}
        self.machine = machine.describe(directory)
        self.database = databases.settings(cluster)

    @cached_property
    def service(self) -> Server:
        """The service, with a jackpot `live` and its tables. Raises: ServerFailed."""
        self.log("setting up the service")
        books = databases.create(self.cluster, "bench_service")
        return self._stack.enter_context(servers.service(books, self.directory))

    @cached_property
    def naive(self) -> Server:
        """The naive application. Raises: ServerFailed."""
        self.log("setting up the naive application")
        database = databases.create(self.cluster, "bench_naive")
        return self._stack.enter_context(servers.naive_application(database, self.directory))

    def striped_tables(self, stripes: int) -> tuple[str, ...]:
        """Return tables of the service whose jackpot has so many stripes; it is opened when there is none."""
        if stripes not in self._tables_by_stripes:
            jackpot_id = f"striped-{stripes}"
            self.log(f"opening a jackpot of {stripes} stripe(s)")
            tables = tuple(f"{jackpot_id}-{number}" for number in range(1, _TABLES_OF_OTHERS + 1))
            servers.open_jackpot(self.service, jackpot_id, tables=tables, stripes=stripes)
            self._tables_by_stripes[stripes] = tables
        return self._tables_by_stripes[stripes]

    def raw(self, *, bets: int, seconds: float, clients: int) -> Raw:
        """Measure what the engine alone does, from a clean start. Raises: RuntimeError."""
        databases.execute(self._scratch, "CHECKPOINT")
        return raw.measure(self._scratch, bets=bets, seconds=seconds, clients=clients)

    def raw_p50_ms(self, *, bets: int, seconds: float, clients: int) -> float:
        """Measure how long the engine alone takes, from a clean start. Raises: RuntimeError."""
        databases.execute(self._scratch, "CHECKPOINT")
        return raw.p50_ms(self._scratch, bets=bets, seconds=seconds, clients=clients)

    def load(self, server: Server, requests: Requests, *, connections: int, seconds: float) -> Load:
        """Measure a closed loop, warmed up and from a clean start. Raises: LoadFailed."""
        self.warm_up(server, requests, connections=connections)
        return load.run(server.port, requests, connections=connections, seconds=seconds)

    def warm_up(self, server: Server, requests: Requests, *, connections: int) -> Load:
        """Ask for a moment what is to be measured, and leave nothing of it for the next checkpoint."""
        warmed = load.run(server.port, requests, connections=connections, seconds=_WARM_UP_SECONDS)
        databases.execute(server.database, "CHECKPOINT")
        return warmed

    @cached_property
    def _scratch(self) -> URL:
        return raw.create(self.cluster)


@contextmanager
def opened(log: Callable[[str], None]) -> Iterator[Site]:
    """Start a cluster of its own, which is gone afterwards. Raises: RuntimeError if its commits are not durable."""
    with ExitStack() as stack:
        directory = stack.enter_context(databases.directory())
        cluster = stack.enter_context(databases.cluster(directory / "data"))
        yield Site(stack, directory=directory, cluster=cluster, log=log)
