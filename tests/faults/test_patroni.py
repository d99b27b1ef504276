"""
Three nodes of Patroni as docs/production sets them up.

A leader that dies or freezes under load loses no acknowledged bet, and bets flow soon after there is a new one.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database import role
from jackpot_service.database.connections import create_engine, create_owners_engine
from jackpot_service.database.tables import ROLE
from jackpot_service.schema import migrate
from tests.faults.betting import betting
from tests.faults.in_time import SLACK_S, once_in_time
from tests.faults.load import Ledger, load
from tests.faults.service import Service, served
from tests.faults.test_frozen import REQUEST_TIMEOUT_S, require_booked
from tests.faults.test_full_disk import furnished, until
from tests.faults.test_killed_server import (
    TABLES,
    require_all_there,
    require_answered_again_alike,
    require_no_surprises,
)
from tests.races.processes import CONFIG
from tests.support import patroni
from tests.support.pages import blocks, run
from tests.support.patroni import PatroniCluster

pytestmark = [
    pytest.mark.patroni,
    pytest.mark.long,
    pytest.mark.skipif(patroni.missing() is not None, reason=str(patroni.missing())),
]

CALLS = 60
PAGE = "runbook.md"
VENV = Path(__file__).resolve().parents[2] / ".venv" / "bin"


@pytest.fixture(scope="module")
def patronis() -> Iterator[PatroniCluster]:
    """Start three nodes for all tests: to make them takes half a minute."""
    directory = Path(tempfile.mkdtemp(prefix="jackpot-patroni-"))
    cluster = patroni.start(directory)
    yield cluster
    cluster.stop()
    shutil.rmtree(directory)


def by_service(url: str) -> str:
    """Return a URL of the owner's as one of the service's login, which has the same password here."""
    return url.replace("//postgres:", f"//{ROLE}:")


def url_of(text: str) -> str:
    """Return a URL as the service reads it from its environment."""
    url = Config.from_environment({"JACKPOT_DATABASE_URL": text}).database_url
    assert url is not None
    return url


@pytest.fixture
def engine(patronis: PatroniCluster) -> Iterator[sqlalchemy.Engine]:
    patronis.clear()
    owner_url = url_of(patronis.url)
    migrate.upgrade(owner_url)
    role.set_password(create_owners_engine(owner_url, lock_timeout_ms=1000), patroni.PASSWORD)
    engine = create_engine(CONFIG, url_of(by_service(patronis.url)))
    yield engine
    engine.dispose()


@pytest.mark.parametrize("way", ["url", "proxied_url"])
def test_a_leader_that_is_killed_under_load_loses_nothing(
    patronis: PatroniCluster, engine: sqlalchemy.Engine, way: str, tmp_path: Path
) -> None:
    key = furnished(engine)
    with served(by_service(getattr(patronis, way)), tmp_path / "service.log") as service:
        with load(service.base_url, key, TABLES) as ledger:
            ledger.wait_for_more(CALLS)
            before = patronis.leader()
            patronis.kill(before)
            ledger.wait_for_more(CALLS)
            assert patronis.leader() != before
            patronis.revive(before)
            patronis.wait_until(patronis.is_in_sync, "the node that was killed does not come back")
            ledger.wait_for_more(CALLS)
        until(lambda: service.status_of("/readyz") == 200, "the service does not get ready again")
        if way == "url":
            follow_the_runbook(patronis, service)
        require_safe(ledger, engine)
        require_answered_again_alike(ledger, service, key)


def follow_the_runbook(cluster: PatroniCluster, service: Service) -> None:
    listing, asking, proving = blocks(PAGE, "failover")
    environment = {
        "PATH": f"{VENV}:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "PATRONI": str(cluster.directory / "patroni.yml"),
        "PATRONI_PASSWORDS": str(cluster.directory / "patroni.env"),
        "SERVICE": service.base_url,
        "JACKPOT_DATABASE_URL": by_service(cluster.url),
    }
    listing_ = run(listing, environment)
    assert re.findall(r"Leader|Sync Standby", listing_).count("Leader") == 1
    assert "Sync Standby" in listing_
    assert '"status":"ready"' in run(asking, environment)
    assert "the books are right" in run(proving, environment)


def require_safe(ledger: Ledger, engine: sqlalchemy.Engine) -> None:
    engine.dispose()
    require_no_surprises(ledger)
    require_all_there(ledger, engine)


@pytest.mark.parametrize("way", ["url", "proxied_url"])
def test_bets_flow_soon_after_a_frozen_leader_was_replaced_which_follows_when_it_was_reset(
    patronis: PatroniCluster, engine: sqlalchemy.Engine, way: str, tmp_path: Path
) -> None:
    """Reset as by a watchdog: Debian's Patroni is older than the one that leaves the lock alone when it goes on."""
    key = furnished(engine)
    settings = {"JACKPOT_REQUEST_TIMEOUT_S": str(REQUEST_TIMEOUT_S)}
    number = count()

    def flowing_s() -> float:
        log = tmp_path / f"service-{next(number)}.log"
        with served(by_service(getattr(patronis, way)), log, settings=settings) as service:
            with betting(service.base_url, key, TABLES) as answered:
                answered.wait_for_acknowledgements(CALLS)
                before = patronis.leader()
                patronis.freeze(before)
                answered.wait_for_answers(TABLES, each=1)
                after = successor(patronis, before)
                flowing_s = answered.wait_for_acknowledgements(len(TABLES))
                until(lambda: service.status_of("/readyz") == 200, "the service does not get ready again")
            assert answered.statuses.keys() <= {200, 201, 503}
            assert answered.longest_s < REQUEST_TIMEOUT_S + 1 + SLACK_S
            require_reset(patronis, before, leader=after)
            engine.dispose()
            require_booked(url_of(by_service(patronis.url)), answered)
        return flowing_s

    once_in_time(flowing_s, bound_s=5)


def successor(patronis: PatroniCluster, frozen: str) -> str:
    """
    Wait for a new leader that can commit, and notice it at once: only those are asked that answer.

    It commits nothing before a standby follows it. That takes two seconds, or a minute where one has to be rewound.
    """
    other_nodes = [node for node in patronis.nodes.values() if node.name != frozen]
    until(lambda: any(node.is_leader() for node in other_nodes), "there is no new leader")
    leader = next(node.name for node in other_nodes if node.is_leader())
    with patronis.connected(leader) as connection:
        in_sync = "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')"
        patronis.wait_until(lambda: connection.execute(in_sync).rowcount > 0, "nobody follows the new leader")
    return leader


def require_reset(patronis: PatroniCluster, node: str, *, leader: str) -> None:
    patronis.kill(node)
    patronis.revive(node)
    patronis.wait_until(patronis.is_in_sync, "nobody follows the new leader")
    patronis.wait_until(lambda: follows(patronis, node), "the old leader leads on")
    assert patronis.leader() == leader


def follows(cluster: PatroniCluster, node: str) -> bool:
    with cluster.connected(node) as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)
