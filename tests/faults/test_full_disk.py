"""A disk that is full: nothing acknowledged is lost, the service is not ready, and goes on by itself with room."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy
from prometheus_client.parser import text_string_to_metric_families

from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.load import load
from tests.faults.service import Service, served
from tests.faults.test_killed_server import (
    TABLES,
    require_all_there,
    require_answered_again_alike,
    require_no_surprises,
)
from tests.races import scene
from tests.races.processes import CONFIG
from tests.support.room import Room, limited

pytestmark = pytest.mark.long

CALLS = 40
LONGEST_WAIT_S = 60


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with limited(tmp_path / "room", megabytes=400) as room:
        yield room


@pytest.fixture
def cluster(made: Path, room: Room) -> embedded.Cluster:
    """Give the test a PostgreSQL that does not run yet, where there is little room."""
    subprocess.run(["cp", "--archive", made, room.place / "data"], check=True)
    return embedded.cluster_in(room.place / "data")


def key(engine: sqlalchemy.Engine, role: Role, casino: str | None) -> str:
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(engine, lambda session: create_key(session, act, Principal(str(role), role, casino))).whole


def furnished(engine: sqlalchemy.Engine) -> str:
    """Set the tables up, and return their server's key."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=TABLES[:2], base_amount="1000")
    scene.open_cyber(engine, "cyber", tables=TABLES[2:])
    return key(engine, Role.TABLE, scene.CASINO)


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LONGEST_WAIT_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def counted(service: Service, auditor: str, kind: str) -> float:
    answer = httpx.get(
        f"{service.base_url}/metrics", headers={"Authorization": f"Bearer {auditor}"}, trust_env=False, timeout=10
    )
    return next(
        sample.value
        for family in text_string_to_metric_families(answer.raise_for_status().text)
        for sample in family.samples
        if sample.name == "jackpot_database_errors_total" and sample.labels["kind"] == kind
    )


def logged(log: Path, kind: str) -> int:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return sum(line["event"] == "database-trouble" and line.get("kind") == kind for line in lines)


@pytest.mark.long
def test_while_only_the_tables_have_no_room_the_service_is_not_ready_and_then_goes_on_by_itself(
    cluster: embedded.Cluster, room: Room, tmp_path: Path
) -> None:
    wal = tmp_path / "wal"
    subprocess.run(["mv", cluster.directory / "pg_wal", wal], check=True)
    (cluster.directory / "pg_wal").symlink_to(wal)
    with embedded.running(cluster.data_dir), served(cluster.service_url(), tmp_path / "service.log") as service:
        engine = create_engine(CONFIG, cluster.service_url())
        table_key, auditor = furnished(engine), key(engine, Role.AUDITOR, None)
        assert counted(service, auditor, "disk-full") == 0

        with load(service.base_url, table_key, TABLES) as ledger:
            ledger.wait_for_more(CALLS)
            room.fill()
            until(lambda: service.status_of("/readyz") == 503, "it says that it is ready while it refuses bets")
            assert service.status_of("/healthz") == httpx.codes.OK
            room.free()
            ledger.wait_for_more(CALLS)
            until(lambda: service.status_of("/readyz") == 200, "it does not get ready again")

        assert counted(service, auditor, "disk-full") > 0
        assert 1 <= logged(service.log, "disk-full") <= service.workers * 3  # a minute and process
        require_no_surprises(ledger)
        require_all_there(ledger, engine)
        require_answered_again_alike(ledger, service, table_key)
        engine.dispose()


def test_a_database_that_a_full_disk_has_ended_has_lost_nothing_when_it_is_started_again(
    cluster: embedded.Cluster, room: Room, tmp_path: Path
) -> None:
    with embedded.running(cluster.data_dir), served(cluster.service_url(), tmp_path / "service.log") as service:
        engine = create_engine(CONFIG, cluster.service_url())
        table_key = furnished(engine)

        with load(service.base_url, table_key, TABLES) as ledger:
            ledger.wait_for_more(CALLS)
            room.fill()
            write_on_until_it_ends(cluster)
            until(lambda: service.status_of("/readyz") == 503, "it says that it is ready while there is no database")
            room.free()
            embedded.start(cluster)
            ledger.wait_for_more(CALLS)

        until(lambda: service.status_of("/readyz") == 200, "it does not get ready again")
        require_no_surprises(ledger)
        engine.dispose()
        require_all_there(ledger, engine)
        require_answered_again_alike(ledger, service, table_key)
        engine.dispose()


def write_on_until_it_ends(cluster: embedded.Cluster) -> None:
    """Have the log of what is written outgrow its room: PostgreSQL ends itself then, and cannot recover either."""
    switch = "SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000)), pg_switch_wal()"
    for _ in range(100):
        if not embedded.is_running(cluster):
            return
        subprocess.run(
            [str(embedded._programs() / "psql"), cluster.conninfo(), "-c", switch], capture_output=True, check=False
        )
    raise AssertionError("it lives on though it cannot write")
