"""The databases of a benchmark: one cluster of its own, a scratch database for each contender."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url

from jackpot_service import embedded

DURABLE_SETTINGS = ("fsync", "synchronous_commit", "full_page_writes")

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
    with embedded.running(data_directory) as url:
        yield make_url(url)


def create(url: URL, name: str) -> URL:
    """Create a database on the cluster of `url` and return its URL."""
    execute(url, f"CREATE DATABASE {name}")
    return url.set(database=name)


def execute(url: URL, *statements: str) -> None:
    """Run statements outside a transaction."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def settings(url: URL) -> dict[str, str]:
    """
    Read the version and what decides whether a commit is durable.

    Raises: RuntimeError if it is not: figures without durability are worth nothing here.
    """
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            names = ("server_version", *DURABLE_SETTINGS)
            found = {name: str(connection.exec_driver_sql(f"SHOW {name}").scalar_one()) for name in names}
    finally:
        engine.dispose()
    if any(found[name] != "on" for name in DURABLE_SETTINGS):
        raise RuntimeError(f"commits are not durable: {found}")
    return found


def _remove(path: Path) -> None:
    """Remove a cluster's directory, in which the keeper of the embedded server may still touch its lock files."""
    for _ in range(_REMOVALS):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.1)
    raise RuntimeError(f"{path} cannot be removed")
