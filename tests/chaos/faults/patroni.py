"""Faults of a Patroni cluster of three nodes, where the campaign runs on one (`CHAOS=patroni`)."""

from typing import ClassVar

from tests.chaos.faults.fault import Drawn, Fault
from tests.chaos.replicated import Replicated
from tests.chaos.site import Site


class ClusterFault(Fault):
    """A fault of one node, by what that node is when the fault is drawn; the node comes back at the end."""

    seconds: ClassVar = 12.0

    def __init__(self) -> None:
        self._node = ""

    def impossible(self, site: Site) -> str:
        """Return why not."""
        return "" if isinstance(site.database, Replicated) else "it needs CHAOS=patroni"

    def node(self, _site: Site, database: Replicated) -> str:
        """Choose the leader."""
        return database.leader()

    def attack(self, database: Replicated, node: str) -> None:
        """Do it to the node."""
        raise NotImplementedError

    def do(self, site: Site) -> None:
        """Choose a node, and do it."""
        if isinstance(site.database, Replicated):
            self._node = self.node(site, site.database)
            self.attack(site.database, self._node)

    def undo(self, site: Site) -> None:
        """Bring the node back."""
        if isinstance(site.database, Replicated):
            site.database.revive(self._node)


class LeaderKilled(ClusterFault):
    """Every process of the leader is killed."""

    name: ClassVar = "the leader killed"

    def attack(self, database: Replicated, node: str) -> None:
        """Kill it."""
        database.cluster.kill(node)


class LeaderFrozen(ClusterFault):
    """Every process of the leader stands still; its connections stay open."""

    name: ClassVar = "the leader frozen"
    seconds: ClassVar = 30.0

    def attack(self, database: Replicated, node: str) -> None:
        """Freeze it."""
        database.cluster.freeze(node)


class ReplicaKilled(LeaderKilled):
    """Every process of a replica is killed; the other one is enough for a quorum."""

    name: ClassVar = "a replica killed"

    def node(self, site: Site, database: Replicated) -> str:
        """Choose a replica."""
        return site.chance.choice(database.replicas())


class ReplicaFrozen(LeaderFrozen):
    """Every process of a replica stands still."""

    name: ClassVar = "a replica frozen"
    seconds: ClassVar = 12.0

    def node(self, site: Site, database: Replicated) -> str:
        """Choose a replica."""
        return site.chance.choice(database.replicas())


FAULTS: tuple[Drawn, ...] = (LeaderKilled, LeaderFrozen, ReplicaKilled, ReplicaFrozen)
