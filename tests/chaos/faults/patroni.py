"""Faults of a Patroni cluster of three nodes, where the campaign runs on one (`CHAOS=patroni`)."""

import signal
from typing import ClassVar

from tests.chaos.faults.fault import Drawn, Fault
from tests.chaos.replicated import Replicated
from tests.chaos.site import Site


class ClusterFault(Fault):
    """A fault of one node, by what that node is when the fault is drawn; the node comes back at the end."""

    seconds: ClassVar = 12.0
    heals: ClassVar = True

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
            self.mend(site.database, self._node)

    def mend(self, database: Replicated, node: str) -> None:
        """Start the node again."""
        database.cluster.revive(node)


class LeaderKilled(ClusterFault):
    """Every process of the leader is killed."""

    name: ClassVar = "the leader killed"

    def attack(self, database: Replicated, node: str) -> None:
        """Kill it."""
        database.cluster.kill(node)


class LeaderFrozen(ClusterFault):
    """Every process of the leader stands still; its connections stay open. In the end it is reset, as by a watchdog."""

    name: ClassVar = "the leader frozen"
    seconds: ClassVar = 45.0

    def attack(self, database: Replicated, node: str) -> None:
        """Freeze it."""
        database.cluster.freeze(node)

    def mend(self, database: Replicated, node: str) -> None:
        """Reset it: before 3.0.3 a Patroni that goes on may take the leader's lock back."""
        database.cluster.kill(node)
        database.cluster.revive(node)


class ReplicaKilled(LeaderKilled):
    """Every process of a replica is killed; the other one is enough for a quorum."""

    name: ClassVar = "a replica killed"

    def node(self, site: Site, database: Replicated) -> str:
        """Choose a replica."""
        return site.chance.choice(database.replicas())


class ReplicaFrozen(LeaderFrozen):
    """Every process of a replica stands still."""

    name: ClassVar = "a replica frozen"
    seconds: ClassVar = 15.0

    def mend(self, database: Replicated, node: str) -> None:
        """Let it go on: it never had the lock."""
        database.cluster.thaw(node)

    def node(self, site: Site, database: Replicated) -> str:
        """Choose a replica."""
        return site.chance.choice(database.replicas())


class ConsensusFrozen(ClusterFault):
    """The etcd by which the nodes agree stands still, until the leader may not be sure any more that it is one."""

    name: ClassVar = "etcd frozen"
    seconds: ClassVar = 40.0
    heals: ClassVar = False  # Nobody may be elected without it.

    def attack(self, database: Replicated, _node: str) -> None:
        """Freeze it."""
        database.consensus().send_signal(signal.SIGSTOP)

    def mend(self, database: Replicated, _node: str) -> None:
        """Let it go on."""
        database.consensus().send_signal(signal.SIGCONT)


FAULTS: tuple[Drawn, ...] = (LeaderKilled, LeaderFrozen, ReplicaKilled, ReplicaFrozen, ConsensusFrozen)
