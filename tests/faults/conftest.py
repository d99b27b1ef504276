import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.schema import migrate
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults import scratch
from tests.faults.scratch import Database
from tests.faults.service import Service, served
from tests.races import scene
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


@pytest.fixture(scope="module")
def standing_cluster(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Cluster]:
    """Give the tests of a module one PostgreSQL, with a casino and its table `T1`."""
    data_dir = tmp_path_factory.mktemp("standing") / "data"
    subprocess.run(["cp", "--archive", made, data_dir], check=True)
    with embedded.running(data_dir):
        yield embedded.cluster_in(data_dir)


@pytest.fixture(scope="module")
def standing_keys(standing_cluster: embedded.Cluster) -> dict[Role, str]:
    """Set tables up there, and give the tests of a module the keys of their server and of an auditor."""
    engine = create_engine(CONFIG, standing_cluster.service_url())
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=[f"T{number}" for number in range(1, 9)], base_amount="1000")
    act = Act(SYSTEM_OPERATOR, scene.now())
    principals = (scene.SERVER, Principal("Ada", Role.AUDITOR))
    keys = {
        principal.role: transact(engine, partial(create_key, act=act, principal=principal)).whole
        for principal in principals
    }
    engine.dispose()
    return keys


@pytest.fixture(scope="module")
def table_key(standing_keys: dict[Role, str]) -> str:
    """Give the tests of a module the key of the tables' server."""
    return standing_keys[Role.TABLE]


@pytest.fixture(scope="module")
def standing_service(standing_cluster: embedded.Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Give the tests of a module one running server there, which none of them ends."""
    with served(standing_cluster.service_url(), tmp_path_factory.mktemp("standing") / "service.log") as service:
        yield service


@pytest.fixture
def own_service(standing_service: Service) -> Service:
    """Give the test the module's server, which it may end: the next finds it started again, and its log empty."""
    standing_service.log.write_bytes(b"")
    if standing_service.process is None or standing_service.process.poll() is not None:
        standing_service.kill()
        standing_service.start()
    return standing_service


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with scratch.opened(database_url) as database:
        yield database


@pytest.fixture
def waiting_database(made: Path, tmp_path: Path) -> Iterator[Database]:
    """Give the test a database whose commits, where asked to, wait for a replica that does not exist."""
    settings = {"fsync": "off", "synchronous_standby_names": "nobody", "synchronous_commit": "local"}
    subprocess.run(["cp", "--archive", made, tmp_path / "data"], check=True)
    with (
        embedded.running(tmp_path / "data", settings=settings) as cluster,
        scratch.opened(cluster.service_url()) as database,
    ):
        yield database
