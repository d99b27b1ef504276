"""A replicated PostgreSQL under test: three nodes that elect a leader, through whatever support starts them."""

import importlib
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import psycopg

from tests.chaos.program import plain

SUPPORT: Final = "tests.support.patroni"
"""Its `start(directory)` starts a cluster; imported by name, since it needs programs that few machines have."""

CONSENSUS: Final = "etcd"
LONGEST_ELECTION_S: Final = 120.0


class NoCluster(Exception):
    """The cluster that was asked for cannot be started."""


class Cluster(Protocol):
    """A running Patroni cluster."""

    @property
    def url(self) -> str: ...
    @property
    def proxied_url(self) -> str: ...
    @property
    def nodes(self) -> Mapping[str, object]: ...
    @property
    def programs(self) -> "Sequence[subprocess.Popen[bytes]]": ...
    def leader(self) -> str: ...
    def kill(self, name: str) -> None: ...
    def freeze(self, name: str) -> None: ...
    def thaw(self, name: str) -> None: ...
    def revive(self, name: str) -> None: ...
    def stop(self) -> None: ...


@dataclass
class Replicated:
    """The cluster as a database that is attacked; `by_hosts` is whether it is reached past HAProxy."""

    cluster: Cluster
    by_hosts: bool

    @property
    def owner_url(self) -> str:
        """Return the URL of the owner."""
        return self.cluster.url if self.by_hosts else self.cluster.proxied_url

    def leader(self) -> str:
        """Return the node that takes writes now."""
        return self.cluster.leader()

    def replicas(self) -> Sequence[str]:
        """Return the other nodes."""
        leader = self.leader()
        return [node for node in self.cluster.nodes if node != leader]

    def consensus(self) -> "subprocess.Popen[bytes]":
        """Return the process of etcd. Raises: LookupError."""
        for process in self.cluster.programs:
            if CONSENSUS in process.args:  # type: ignore[operator]  # It was started by a list of words.
                return process
        raise LookupError(CONSENSUS)

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


def require_support() -> None:
    """Raises: NoCluster if this machine lacks a program that a cluster needs."""
    lacking: str | None = importlib.import_module(SUPPORT).missing()
    if lacking:
        raise NoCluster(lacking)


@contextmanager
def running(directory: Path, *, by_hosts: bool) -> Iterator[Replicated]:
    """Keep a cluster running in a directory. Raises: TimeoutError if it does not come up."""
    directory.mkdir()
    cluster: Cluster = importlib.import_module(SUPPORT).start(directory)
    try:
        yield Replicated(cluster, by_hosts)
    finally:
        cluster.stop()
