"""A primary and its standby for the tests of the folder, and worlds that read at the standby, as production would."""

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.database import embedded, replica
from jackpot_service.schema import migrate
from tests.conftest import SETTINGS
from tests.replica.worlds import LONGEST_WAIT_S, Opening, replica_of, wait_until_in_use, wait_until_nobody_reads
from tests.support.clock import let_tests_move_the_clock
from tests.support.fixtures import books_verify
from tests.support.standby import Standby, following
from tests.support.world import World

__all__ = ["books_verify"]

_NUMBERS: Final = count(1)


IN_EACH_RUN: Final = "test_a_list_is_read_at_the_replica_and_says_how_old_it_is"
"""To start a standby takes some seconds: a single test of them is in `make test`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests that start a standby to `make test-long`, but for one."""
    for item in items:
        if "standby" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow if item.name == IN_EACH_RUN else pytest.mark.long)


@pytest.fixture(scope="session")
def standby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standby]:
    """Give the tests a migrated primary and its standby, which holds its recovery up for no query for long."""
    place = tmp_path_factory.mktemp("followed")
    settings = {**SETTINGS, "wal_level": "logical"}
    with embedded.running(place / "data", settings=settings) as primary:
        migrate.upgrade(primary.url())
        let_tests_move_the_clock(primary.url())
        hasty = {**settings, "max_standby_streaming_delay": "100ms"}
        with following(primary, place / "replica", settings=hasty) as standby:
            yield standby


@pytest.fixture
def database(standby: Standby) -> str:
    """Make a database of the test's own, and return its name when the standby has it too."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(standby.primary.conninfo(), autocommit=True) as administrator:
        administrator.execute(f"CREATE DATABASE {name} TEMPLATE {embedded.DATABASE}")
        administrator.execute(f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
    standby.catch_up()
    return name


@pytest.fixture
def opening(standby: Standby, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    """
    Open worlds in a database of the test's own, whose services have the standby as their replica.

    However long a test lets that wait on a busy machine, it is not too far behind, unless the test has it so. Nor does
    a test leave a reader or a look behind: the connection would stay open until another test is found to have lost it.
    """
    monkeypatch.setattr(replica, "_LONGEST_END_S", LONGEST_WAIT_S)
    worlds: list[World] = []
    usual = {"replica_url": standby.cluster.service_url(database), "replica_stale_after_s": LONGEST_WAIT_S}

    def opened(kind: type[World] = World, **configured: Any) -> World:
        url = standby.primary.service_url(database)
        world = kind(url, **{**usual, **configured})
        worlds.append(world)
        wait_until_in_use(world)
        return world

    yield opened
    for world in worlds:
        wait_until_nobody_reads(world)
        world.close()
        replica_of(world).close()


@pytest.fixture
def world(opening: Opening) -> World:
    """Open a world with a jackpot; its replica is in use."""
    world = opening()
    world.open(base_amount="1000")
    return world
