"""A replicated PostgreSQL under test: three nodes that elect a leader, through whatever support starts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.chaos.database import backends


class Cluster(Protocol):
    """A running Patroni cluster."""

    @property
    def url(self) -> str: ...
    def nodes(self) -> Sequence[str]: ...
    def leader(self) -> str: ...
    def kill(self, node: str) -> None: ...
    def freeze(self, node: str) -> None: ...
    def revive(self, node: str) -> None: ...
    def stop(self) -> None: ...


@dataclass
class Replicated:
    """The cluster as a database that is attacked."""

    cluster: Cluster

    @property
    def owner_url(self) -> str:
        """Return the URL of the owner."""
        return self.cluster.url

    def leader(self) -> str:
        """Return the node that takes writes now."""
        return self.cluster.leader()

    def replicas(self) -> Sequence[str]:
        """Return the other nodes."""
        leader = self.leader()
        return [node for node in self.cluster.nodes() if node != leader]

    def revive(self, node: str) -> None:
        """Start a node again, or let it go on."""
        self.cluster.revive(node)

    def bring_back(self) -> None:
        """Wait until some node takes writes; faults bring their own nodes back."""
        backends(self.owner_url)
