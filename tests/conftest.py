"""
One temporary PostgreSQL for the whole run, and for every test that asks a fresh copy of the migrated template.

The processes of a run (pytest itself, or the workers of pytest-xdist) share the server as any users of
the embedded PostgreSQL do: the first test that needs it starts it, and it ends with the last process, however that
ends. It alone runs with fsync off; tests that kill servers start their own.
"""

import fcntl
import gc
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, TextIO

import psycopg
import pytest
import structlog
from psycopg import sql

from jackpot_service.api import entrance
from jackpot_service.database import embedded
from jackpot_service.schema import migrate, months
from jackpot_service.telemetry import trouble
from jackpot_service.telemetry.logs import Seldom
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY
from tests.support import compiled
from tests.support.clock import let_tests_move_the_clock, trust_the_clocks_of_tests
from tests.support.logins import owner_url
from tests.support.world import COPIES, World

SETTINGS: Final = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "max_wal_size": "256MB"}
TEMPLATE: Final = "migrated"
MEMORY: Final = Path("/dev/shm")  # noqa: S108 -- a copy's 300 files cost 10 ms there, and up to 350 ms on a disk
ROOM_IN_MEMORY: Final = 2 << 30
PREFIX: Final = "jackpot-tests-"

_DIRECTORY = pytest.StashKey[Path]()
_LOCK = pytest.StashKey[TextIO]()
_NUMBERS = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make soak` and `make quick`."""
    parser.addoption("--soak-minutes", type=float, default=0, help="Let the mixture of all calls go on for so long.")
    parser.addoption("--write-examples", action="store_true", help="Write what the contract's examples are answered.")
    parser.addoption("--without-proof", action="store_true", help="Hold the books to their laws alone after a test.")


def pytest_configure(config: pytest.Config) -> None:
    """Make the directory of the run's PostgreSQL; a worker is told which it is."""
    # Who starts the tests in the background has them ignore Ctrl-C, and so would the programs that they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    compiled.share()
    # By itself it draws every local variable of every frame of an exception: seconds, with a transaction left waiting.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, plain])
    workerinput = getattr(config, "workerinput", None)
    if workerinput is not None:
        config.stash[_DIRECTORY] = Path(workerinput["postgres_directory"])
        return
    roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM_IN_MEMORY
    place = MEMORY if roomy else Path(tempfile.gettempdir())
    _sweep(place)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    directory.chmod(0o711)
    config.stash[_DIRECTORY] = directory
    config.stash[_LOCK] = (directory / "run.lock").open("w")
    fcntl.flock(config.stash[_LOCK], fcntl.LOCK_EX)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist which directory it is."""
    node.workerinput["postgres_directory"] = str(node.config.stash[_DIRECTORY])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what a worker that was killed left running, and remove the directory."""
    if getattr(config, "workerinput", None) is not None or _DIRECTORY not in config.stash:
        return
    directory = config.stash[_DIRECTORY]
    if (directory / "postgres").exists():
        embedded.stop(embedded.cluster_in(directory))
    shutil.rmtree(directory, ignore_errors=True)
    config.stash[_LOCK].close()


def pytest_collection_finish() -> None:
    """Have no collection of garbage look at thousands of tests that stay to the end: each would take half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _trusted_clocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patching:
        trust_the_clocks_of_tests(patching)
        yield


@pytest.fixture(autouse=True)
def unlogged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no line of the test be passed over because one like it was logged by a test before."""
    monkeypatch.setattr(trouble, "_seldom", Seldom())
    monkeypatch.setattr(entrance, "_seldom", Seldom())


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> Iterator[embedded.Cluster]:
    """Keep the run's PostgreSQL running, with the template in it."""
    directory = pytestconfig.stash[_DIRECTORY]
    with embedded.running(directory, settings=SETTINGS):
        cluster = embedded.cluster_in(directory, settings=SETTINGS)
        with (directory / "template.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _make_template(cluster)
        yield cluster


@pytest.fixture(scope="session")
def administrator(cluster: embedded.Cluster) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the one who makes and drops databases."""
    with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def furnished(cluster: embedded.Cluster, administrator: psycopg.Connection[Any]) -> Iterator[tuple[str, World]]:
    """Furnish a world once, and name its database, so that those of tests can be copies of it."""
    name = f"furnished_{os.getpid()}"
    administrator.execute(_copying(name, TEMPLATE))
    world = World(cluster.service_url(name))
    world.close()
    yield name, world
    _drop(administrator, name)


@pytest.fixture
def database_url(
    request: pytest.FixtureRequest, cluster: embedded.Cluster, administrator: psycopg.Connection[Any]
) -> Iterator[str]:
    """Give the test a migrated database, by the service's login; where a world is to be in it, a copy of one."""
    if "world" not in request.fixturenames:
        yield from _database(cluster, administrator, TEMPLATE)
        return
    template, world = request.getfixturevalue("furnished")
    for url in _database(cluster, administrator, template):
        COPIES[url] = world
        yield url
        del COPIES[url]


@pytest.fixture
def empty_database_url(cluster: embedded.Cluster, administrator: psycopg.Connection[Any]) -> Iterator[str]:
    """Give the test a database of its own without anything in it, by its owner's login."""
    for url in _database(cluster, administrator, "template0"):
        yield owner_url(url)


def _database(cluster: embedded.Cluster, administrator: psycopg.Connection[Any], template: str) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    administrator.execute(_copying(name, template))
    administrator.execute(_closing(name))
    try:
        yield cluster.service_url(name)
    finally:
        _drop(administrator, name)


def _copying(name: str, template: str) -> sql.Composed:
    making = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
    return making.format(sql.Identifier(name), sql.Identifier(template))


def _closing(name: str) -> sql.Composed:
    """Take away what a migration does too: a copy has every row of its template, but not the rights on the database."""
    return sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name))


def _drop(administrator: psycopg.Connection[Any], name: str) -> None:
    """Drop a database whoever uses it; by itself PostgreSQL looks only every 100 ms whether they are gone."""
    administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
    for _ in range(1000):
        if not administrator.execute("SELECT FROM pg_stat_activity WHERE datname = %s", [name]).rowcount:
            break
        time.sleep(0.001)
    administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _make_template(cluster: embedded.Cluster) -> None:
    """Migrate a database and only then give it the template's name, so that no half-migrated one is ever copied."""
    with psycopg.connect(cluster.conninfo(), autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [TEMPLATE]).rowcount:
            return
        connection.execute("DROP DATABASE IF EXISTS migrating WITH (FORCE)")
        connection.execute("CREATE DATABASE migrating")
        migrate.upgrade(cluster.url("migrating"))
        migrate.add_change_policies(cluster.url("migrating"), SHIPPED_POLICY)
        months.make(cluster.url("migrating"), now=datetime.now(UTC))
        let_tests_move_the_clock(cluster.url("migrating"))
        connection.execute(f"ALTER DATABASE migrating RENAME TO {TEMPLATE}")


def _sweep(place: Path) -> None:
    """Remove the directories of runs that were killed: those whose lock nobody holds any more."""
    for lock_path in place.glob(f"{PREFIX}*/run.lock"):
        with suppress(OSError), lock_path.open() as lock:  # Still held, or another account's.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock_path.parent)
