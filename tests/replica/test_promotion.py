"""After a failover: a standby of the log that ended is not read, however far it went, until it follows the new one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.database import embedded
from jackpot_service.database.replica import ReplicaState
from jackpot_service.schema import migrate
from tests.conftest import SETTINGS
from tests.replica.worlds import replica_of, state, tables, wait_until, wait_until_in_use
from tests.support.bets import bet
from tests.support.clock import let_tests_move_the_clock
from tests.support.standby import Standby, following
from tests.support.world import World

pytestmark = pytest.mark.long

FOLLOW: Final = "ALTER SYSTEM SET primary_conninfo = '{}'"


@dataclass(frozen=True)
class Failover:
    """A primary and two standbys, of which the first is promoted."""

    primary: embedded.Cluster
    promoted: Standby
    other: Standby

    def happen(self) -> None:
        """Have the primary die, and one standby take its place; the other stays where the old log has brought it."""
        embedded.stop(self.primary, mode="immediate")
        with self.promoted.connected() as administrator:
            administrator.execute("SELECT pg_promote()")

    def follow(self) -> None:
        """Have the other standby follow the new primary, and note in its control file that it does."""
        with self.other.connected() as administrator:
            administrator.execute(FOLLOW.format(self.promoted.cluster.conninfo()))
            administrator.execute("SELECT pg_reload_conf()")
        with self.promoted.connected() as administrator:
            administrator.execute("CHECKPOINT")
        Standby(self.other.cluster, self.promoted.cluster).catch_up()
        with self.other.connected() as administrator:
            administrator.execute("CHECKPOINT")

    def world(self) -> World:
        """Open a world of the new primary that has the other standby as its replica."""
        return World(self.promoted.service_url(), replica_url=self.other.service_url())


@pytest.fixture
def failover(tmp_path: Path) -> Iterator[Failover]:
    with embedded.running(tmp_path / "primary", settings=SETTINGS) as primary:
        migrate.upgrade(primary.url())
        let_tests_move_the_clock(primary.url())
        with (
            following(primary, tmp_path / "promoted", settings=SETTINGS) as promoted,
            following(primary, tmp_path / "other", settings=SETTINGS) as other,
        ):
            yield Failover(primary, promoted, other)


def test_a_standby_that_went_further_by_the_old_log_is_not_read(failover: Failover) -> None:
    """What it has beyond the promotion is lost, and positions of the new log say nothing of it."""
    before = World(failover.primary.service_url(), replica_url=failover.other.service_url())
    before.open(base_amount="1000")
    failover.promoted.catch_up()
    failover.promoted.kill()
    before.add_table("LOST", jackpot_id="j1")
    for number in range(30):
        before.bet(bet(), round_id=f"lost{number}")
    failover.other.catch_up()
    wait_until_in_use(before)
    assert tables(before.get("/v1/tables")) == ["LOST", "T1"]
    replica_of(before).close()
    before.close()
    embedded.stop(failover.primary, mode="immediate")
    failover.promoted.start()
    with failover.promoted.connected() as administrator:
        administrator.execute("SELECT pg_promote()")

    world = failover.world()
    try:
        wait_until(lambda: state(world) is ReplicaState.FOREIGN)
        for number in range(60):  # The new log passes the position at which the other standby stopped.
            world.bet(bet(), round_id=f"new{number}")
        replica_of(world).look()
        assert state(world) is ReplicaState.FOREIGN
        listed = world.get("/v1/tables")
        assert tables(listed) == ["T1"]
        assert "Replica-Age" not in listed.headers
    finally:
        replica_of(world).close()
        world.close()


def test_a_standby_that_follows_the_new_primary_is_read_again(failover: Failover) -> None:
    before = World(failover.primary.service_url(), replica_url=failover.other.service_url())
    before.open(base_amount="1000")
    for standby in (failover.promoted, failover.other):
        standby.catch_up()
    before.close()
    replica_of(before).close()
    failover.happen()

    world = failover.world()
    try:
        wait_until(lambda: state(world) is ReplicaState.FOREIGN)
        failover.follow()
        world.add_table("T2", jackpot_id="j1")
        Standby(failover.other.cluster, failover.promoted.cluster).catch_up()
        wait_until_in_use(world)
        listed = world.get("/v1/tables")
        assert tables(listed) == ["T1", "T2"]
        assert "Replica-Age" in listed.headers
    finally:
        replica_of(world).close()
        world.close()
