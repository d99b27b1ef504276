"""A replicated PostgreSQL under test: three nodes that elect a leader, through whatever support starts them."""

import importlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import psycopg

from tests.chaos.program import plain

SUPPORT: Final = "tests.support.patroni"
"""Its `start(directory)` starts a cluster; imported by name, since it needs programs that few machines have."""

LONGEST_ELECTION_S: Final = 120.0


class Cluster(Protocol):
    """A running Patroni cluster."""

    @property
    def url(self) -> str: ...
    def nodes(self) -> Sequence[str]: ...
    def leader(self) -> str: ...
    def kill(self, node: str) -> None: ...
    def freeze(self, node: str) -> None: ...
    def revive(self, node: str) -> None: ...
    def stop(self) -> None: ...


@dataclass
class Replicated:
    """The cluster as a database that is attacked."""

    cluster: Cluster

    @property
    def owner_url(self) -> str:
        """Return the URL of the owner."""
        return self.cluster.url

    def leader(self) -> str:
        """Return the node that takes writes now."""
        return self.cluster.leader()

    def replicas(self) -> Sequence[str]:
        """Return the other nodes."""
        leader = self.leader()
        return [node for node in self.cluster.nodes() if node != leader]

    def revive(self, node: str) -> None:
        """Start a node again, or let it go on."""
        self.cluster.revive(node)

    def bring_back(self) -> None:
        """Wait until some node takes writes; faults bring their own nodes back. Raises: psycopg.OperationalError."""
        until = time.monotonic() + LONGEST_ELECTION_S
        while True:
            try:
                if _takes_writes(self.owner_url):
                    return
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.5)


def _takes_writes(url: str) -> bool:
    with psycopg.connect(plain(url), connect_timeout=5) as connection:
        return bool(connection.execute("SELECT WHERE NOT pg_is_in_recovery()").rowcount)


@contextmanager
def running(directory: Path) -> Iterator[Replicated]:
    """Keep a cluster running in a directory. Raises: ModuleNotFoundError without the support for it."""
    directory.mkdir()
    cluster: Cluster = importlib.import_module(SUPPORT).start(directory)
    try:
        yield Replicated(cluster)
    finally:
        cluster.stop()
