import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service import embedded, migrate
from jackpot_service.connections import create_engine
from tests.faults.service import Service, served
from tests.races.processes import CONFIG


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a PostgreSQL that is migrated and stopped, so that those of tests can be copies of it."""
    data_dir = tmp_path_factory.mktemp("made") / "data"
    with embedded.running(data_dir) as url:
        migrate.upgrade(url)
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
    engine = create_engine(CONFIG, durable.url())
    yield engine
    engine.dispose()


@pytest.fixture
def service(durable: embedded.Cluster, tmp_path: Path) -> Iterator[Service]:
    """Give the test a running server on that PostgreSQL."""
    with served(durable.url(), tmp_path / "service.log") as service:
        yield service
