from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service import embedded, migrate
from jackpot_service.connections import create_engine
from tests.faults.service import Service, served
from tests.races.processes import CONFIG


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[embedded.Cluster]:
    """Give the test a PostgreSQL of its own, which keeps what it commits however it ends; migrated."""
    with embedded.running(tmp_path / "data") as url:
        migrate.upgrade(url)
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
