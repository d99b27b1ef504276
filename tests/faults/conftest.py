import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service import embedded, migrate
from jackpot_service.connections import create_engine
from tests.faults import scratch
from tests.faults.scratch import Database
from tests.faults.service import Service, served
from tests.races.processes import CONFIG


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a PostgreSQL that is migrated and stopped, so that those of tests can be copies of it."""
    data_dir = tmp_path_factory.mktemp("made") / "data"
    with embedded.running(data_dir) as cluster:
        migrate.upgrade(cluster.url())
    return data_dir


@pytest.fixture
def durable(made: Path, tmp_path: Path) -> Iterator[embedded.Cluster]:
    """Give the test a PostgreSQL of its own, which keeps what it commits however it ends; migrated."""
    subprocess.run(["cp", "--archive", made, tmp_path / "data"], check=True)
    with embedded.running(tmp_path / "data"):
        yield embedded.cluster_in(tmp_path / "data")


@pytest.fixture
def engine(durable: embedded.Cluster) -> Iterator[sqlalchemy.Engine]:
    """Give the test an engine of its own on that PostgreSQL."""
    engine = create_engine(CONFIG, durable.service_url())
    yield engine
    engine.dispose()


@pytest.fixture
def service(durable: embedded.Cluster, tmp_path: Path) -> Iterator[Service]:
    """Give the test a running server on that PostgreSQL."""
    with served(durable.service_url(), tmp_path / "service.log") as service:
        yield service


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with scratch.opened(database_url) as database:
        yield database


@pytest.fixture
def waiting_database(tmp_path: Path) -> Iterator[Database]:
    """Give the test a database whose commits, where asked to, wait for a replica that does not exist."""
    settings = {"fsync": "off", "synchronous_standby_names": "nobody", "synchronous_commit": "local"}
    with embedded.running(tmp_path, settings=settings) as cluster:
        migrate.upgrade(cluster.url())
        with scratch.opened(cluster.service_url()) as database:
            yield database
