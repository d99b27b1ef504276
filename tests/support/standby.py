"""A hot standby of a test's own cluster: it follows by streaming, and stops replaying where a test says so."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

from jackpot_service.database import embedded

LONGEST_WAIT_S: Final = 30


@dataclass(frozen=True)
class Standby:
    """A PostgreSQL that follows another one, and takes no writes."""

    cluster: embedded.Cluster
    primary: embedded.Cluster

    def service_url(self) -> str:
        return self.cluster.service_url()

    def url(self) -> str:
        return self.cluster.url()

    def catch_up(self) -> None:
        """Wait until it has all that the primary has written."""
        with psycopg.connect(self.primary.conninfo(), autocommit=True) as primary:
            (written,) = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone() or (None,)
        until = time.monotonic() + LONGEST_WAIT_S
        with self.connected() as replica:
            while replica.execute("SELECT WHERE pg_last_wal_replay_lsn() >= %s", [written]).rowcount == 0:
                assert time.monotonic() < until, "the replica does not catch up"
                time.sleep(0.01)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Replay nothing in the block, however much arrives."""
        self.catch_up()
        with self.connected() as replica:
            replica.execute("SELECT pg_wal_replay_pause()")
            while replica.execute("SELECT WHERE pg_get_wal_replay_pause_state() = 'paused'").rowcount == 0:
                time.sleep(0.005)
        try:
            yield
        finally:
            self.resume()

    def resume(self) -> None:
        """Replay what has arrived, and what comes."""
        with self.connected() as replica:
            replica.execute("SELECT pg_wal_replay_resume()")

    def kill(self) -> None:
        """End it as a power cut would."""
        embedded.stop(self.cluster, mode="immediate")

    def start(self) -> None:
        """Start it again."""
        embedded.start(self.cluster)

    @contextmanager
    def connected(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        """Connect to it as its superuser."""
        with psycopg.connect(self.cluster.conninfo(database), autocommit=True) as connection:
            yield connection


@contextmanager
def following(
    primary: embedded.Cluster, place: Path, *, settings: Mapping[str, str] | None = None
) -> Iterator[Standby]:
    """Keep a standby of a cluster in a place of its own, which is made, as long as the block runs."""
    cluster = embedded.cluster_in(place, settings=settings)
    backup = ("--pgdata", str(cluster.directory), "--dbname", primary.conninfo())
    embedded._run(cluster, "pg_basebackup", *backup, "--write-recovery-conf", "--checkpoint=fast")
    with embedded.running(place, settings=settings):
        yield Standby(cluster, primary)
