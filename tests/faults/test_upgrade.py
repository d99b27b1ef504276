"""An upgrade while bets go on: the version before and the one after work on one database, and no call fails."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from jackpot_service.database import embedded
from jackpot_service.schema.migrate import SchemaState, state
from tests.faults.load import load
from tests.faults.service import Service, served
from tests.faults.test_full_disk import furnished
from tests.faults.test_killed_server import TABLES, require_all_there, require_no_surprises
from tests.support.next_version import package_in

pytestmark = pytest.mark.long

CALLS = 60
LONGEST_WAIT_S = 60


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the version after this one, whose schema has a column and a table more."""
    return package_in(tmp_path_factory.mktemp("next"))


def upgrade(url: str, version: Path) -> "subprocess.Popen[str]":
    """Start `jackpot db upgrade` of a version."""
    return subprocess.Popen(
        [sys.executable, "-m", "jackpot_service.cli", "db", "upgrade"],
        env={**os.environ, "JACKPOT_OWNER_URL": url},
        cwd=version,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def always_ready(service: Service) -> Iterator[None]:
    """Ask all the time whether a service is ready; it must never say that it is not."""
    over, statuses = threading.Event(), set[int]()

    def ask() -> None:
        while not over.wait(0.02):
            statuses.add(service.status_of("/readyz"))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LONGEST_WAIT_S)
    assert statuses == {200}


def test_a_rolling_upgrade_under_load_fails_no_call(
    durable: embedded.Cluster, engine: sqlalchemy.Engine, next_version: Path, tmp_path: Path
) -> None:
    url = durable.service_url()
    key = furnished(engine)
    with (
        served(url, tmp_path / "old.log") as old,
        served(url, tmp_path / "new.log", starts=False, version=next_version) as new,
    ):
        with load(old.base_url, key, TABLES[::2]) as by_old, always_ready(old):
            by_old.wait_for_more(CALLS)
            migrating = upgrade(durable.url(), next_version)
            output = migrating.communicate(timeout=LONGEST_WAIT_S)[1]
            assert migrating.returncode == 0, output
            assert state(engine) is SchemaState.NEWER
            by_old.wait_for_more(CALLS)
            new.start()
            with load(new.base_url, key, TABLES[1::2]) as by_new, always_ready(new):
                by_old.wait_for_more(CALLS)
                by_new.wait_for_more(CALLS)
        old.stop()

        assert new.status_of("/readyz") == 200
        for ledger in (by_old, by_new):
            require_no_surprises(ledger)
            assert ledger.retries == {}
        by_old.stakes |= by_new.stakes
        by_old.refunded |= by_new.refunded
        by_old.awards |= by_new.awards
        require_all_there(by_old, engine)


def test_an_upgrade_that_waits_for_a_long_reader_holds_up_no_bet(
    service: Service, durable: embedded.Cluster, engine: sqlalchemy.Engine, next_version: Path
) -> None:
    key = furnished(engine)
    with load(service.base_url, key, TABLES) as ledger, always_ready(service):
        ledger.wait_for_more(CALLS)
        with psycopg.connect(durable.conninfo(embedded.DATABASE)) as reader:
            reader.execute("SELECT count(*) FROM bets")
            migrating = upgrade(durable.url(), next_version)
            wait_until_it_has_waited_twice(durable)
            ledger.wait_for_more(CALLS)
            assert migrating.poll() is None
        output = migrating.communicate(timeout=LONGEST_WAIT_S)[1]
        assert migrating.returncode == 0, output
        assert state(engine) is SchemaState.NEWER
        ledger.wait_for_more(CALLS)

    assert ledger.retries == {}
    require_all_there(ledger, engine)


def wait_until_it_has_waited_twice(cluster: embedded.Cluster) -> None:
    """Wait until two connections, one after the other, have queued for all of `bets`."""
    waiting = (
        "SELECT pid FROM pg_locks WHERE relation = 'bets'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted"
    )
    seen = set[int]()
    until = time.monotonic() + LONGEST_WAIT_S
    with psycopg.connect(cluster.conninfo(embedded.DATABASE), autocommit=True) as watcher:
        while len(seen) < 2:
            assert time.monotonic() < until, "the upgrade waits for nobody"
            seen |= {pid for (pid,) in watcher.execute(waiting)}
