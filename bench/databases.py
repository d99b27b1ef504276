"""The databases of a benchmark: one cluster of its own, a scratch database for each contender."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, NullPool, create_engine, make_url

from jackpot_service.database import embedded
from jackpot_service.database.tables import ROLE

DURABLE_SETTINGS = ("fsync", "synchronous_commit", "full_page_writes")

_RELOAD = "SELECT pg_reload_conf()"
_RELOADS = 50
_COMMITS = 200
_REMOVALS = 20


@contextmanager
def directory() -> Iterator[Path]:
    """Make a directory for a cluster and remove it at the end."""
    path = Path(tempfile.mkdtemp(prefix="jackpot-bench-"))
    try:
        yield path
    finally:
        _remove(path)


@contextmanager
def cluster(data_directory: Path) -> Iterator[URL]:
    """Start the embedded PostgreSQL as the service would, give its URL and stop it at the end."""
    with embedded.running(data_directory) as running:
        yield make_url(running.url())


def create(url: URL, name: str) -> URL:
    """Create a database on the cluster of `url` and return its URL."""
    execute(url, f"CREATE DATABASE {name}")
    return url.set(database=name)


def url_of_service(url: URL) -> URL:
    """Return the URL of the service's own login on a database; a cluster's own URL is its owner's."""
    return url.set(username=ROLE)


def execute(url: URL, *statements: str) -> None:
    """Run statements outside a transaction."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def postmaster(url: URL) -> int:
    """Return the process id of the server of `url`, which runs on this machine."""
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            return int(
                connection.exec_driver_sql("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)").scalar_one()
            )
    finally:
        engine.dispose()


def commit_ms(url: URL) -> float:
    """Measure the least time of one client's smallest durable commit: what no neighbour has made longer."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    times_ns = []
    try:
        with engine.connect() as connection:
            for _ in range(_COMMITS):
                began_ns = time.perf_counter_ns()
                connection.exec_driver_sql("SELECT pg_logical_emit_message(true, 'bench', 'a commit')")
                times_ns.append(time.perf_counter_ns() - began_ns)
    finally:
        engine.dispose()
    return min(times_ns) / 1e6


@contextmanager
def slow_flushes(url: URL, *, delay_us: int) -> Iterator[None]:
    """
    Have the server of `url` sleep before every flush of its log, while it holds the lock on writing it.

    With `commit_siblings` 0 it does so for a lone client too. Commits that come during the sleep join the flush: that
    is kinder than a slow disk, where those that come during a flush wait for the next, and it is so for everybody.
    """
    execute(url, f"ALTER SYSTEM SET commit_delay = {delay_us}", "ALTER SYSTEM SET commit_siblings = 0", _RELOAD)
    _wait_for_delay(url, delay_us)
    try:
        yield
    finally:
        execute(url, "ALTER SYSTEM RESET commit_delay", "ALTER SYSTEM RESET commit_siblings", _RELOAD)
        _wait_for_delay(url, 0)


def settings(url: URL) -> dict[str, str]:
    """
    Read the version and what decides whether a commit is durable.

    Raises: RuntimeError if it is not: figures without durability are worth nothing here.
    """
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            names = ("server_version", *DURABLE_SETTINGS)
            values = {name: str(connection.exec_driver_sql(f"SHOW {name}").scalar_one()) for name in names}
    finally:
        engine.dispose()
    if any(values[name] != "on" for name in DURABLE_SETTINGS):
        raise RuntimeError(f"commits are not durable: {values}")
    return values


def _wait_for_delay(url: URL, delay_us: int) -> None:
    """Wait until new sessions have it; those that are there take it up with their next statement."""
    engine = create_engine(url, poolclass=NullPool)
    for _ in range(_RELOADS):
        with engine.connect() as connection:
            if connection.exec_driver_sql("SHOW commit_delay").scalar_one() == str(delay_us):
                return
        time.sleep(0.1)
    raise RuntimeError(f"commit_delay does not become {delay_us}")


def _remove(path: Path) -> None:
    """Remove a cluster's directory, in which the keeper of the embedded server may still touch its lock files."""
    for _ in range(_REMOVALS):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.1)
    raise RuntimeError(f"{path} cannot be removed")
