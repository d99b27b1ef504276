"""The PostgreSQL under test: started, stopped, killed, and asked for the process ids of its backends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import psycopg

from jackpot_service.database import embedded
from tests.chaos.program import plain

SETTINGS: Final = {"max_wal_size": "128MB", "min_wal_size": "64MB", "checkpoint_timeout": "60s"}
"""Beside the durable ones: a small log, so that a disk of limited size is not filled by it, and checkpoints."""

LONGEST_RECOVERY_S: Final = 120.0
CLIENT: Final = "client backend"


class Database(Protocol):
    """What every fault may rely on, whichever PostgreSQL it is."""

    @property
    def owner_url(self) -> str:
        """Return the URL of the owner; it is the same after every restart."""

    def bring_back(self) -> None:
        """Start what does not run, as an operator would, and wait until it answers."""


@dataclass
class Embedded:
    """The embedded PostgreSQL in a directory of its own."""

    cluster: embedded.Cluster

    @property
    def owner_url(self) -> str:
        """Return the URL of the owner."""
        return self.cluster.url()

    def bring_back(self) -> None:
        """Start it unless it answers; one that recovers by itself is waited for. Raises: embedded.EmbeddedError."""
        until = time.monotonic() + LONGEST_RECOVERY_S
        while True:
            try:
                embedded.start(self.cluster)
                self.backends()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def stop(self, mode: embedded.StopMode) -> None:
        """Stop it; `immediate` is a crash."""
        embedded.stop(self.cluster, mode=mode)

    def postmaster(self) -> int:
        """Return the process id of the server."""
        return embedded.postmaster_pid(self.cluster)

    def backends(self) -> Mapping[int, str]:
        """Return the processes of the server by process id, each with its kind; not the one that is asked."""
        return backends(self.owner_url)

    def every_process(self) -> tuple[int, ...]:
        """Return the process ids of the server and of all its children."""
        server = self.postmaster()
        children = Path(f"/proc/{server}/task/{server}/children").read_text()
        return (server, *map(int, children.split()))


@contextmanager
def running(directory: Path, settings: Mapping[str, str]) -> Iterator[Embedded]:
    """Keep a PostgreSQL running in a directory; whatever was done to it, it is stopped at the end."""
    with embedded.running(directory, settings=settings):
        database = Embedded(embedded.cluster_in(directory, settings=settings))
        try:
            yield database
        finally:
            _thaw(database)


def copy(source: Path, target: Path) -> None:
    """Copy the directory of a PostgreSQL that is stopped."""
    subprocess.run(["cp", "--archive", f"{source}/.", str(target)], check=True)


def backends(url: str) -> Mapping[int, str]:
    """Return the processes of a server by process id, each with its kind; not the one that is asked."""
    question = "SELECT pid, backend_type FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY pid"
    with psycopg.connect(plain(url), connect_timeout=10) as connection:
        return dict(connection.execute(question).fetchall())


def _thaw(database: Embedded) -> None:
    """Let every process go on, so that none is left frozen by a campaign that was interrupted."""
    try:
        pids = database.every_process()
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue
