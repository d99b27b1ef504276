"""Processes of PostgreSQL killed: each kind of backend, and the server itself."""

import signal
from typing import ClassVar

from tests.chaos.database import CLIENT
from tests.chaos.faults.fault import Drawn, EmbeddedFault, embedded_in
from tests.chaos.program import signal_all
from tests.chaos.site import Site

KINDS = (
    CLIENT,
    "checkpointer",
    "background writer",
    "walwriter",
    "autovacuum launcher",
    "logical replication launcher",
    "io worker",
)


class BackendKilled(EmbeddedFault):
    """One process of a kind is killed; PostgreSQL ends all others and recovers."""

    kind: ClassVar[str]

    def impossible(self, site: Site) -> str:
        """Return why not: not every version of PostgreSQL has every kind."""
        other = super().impossible(site)
        if other:
            return other
        there = self.kind in embedded_in(site).backends().values()
        return "" if there else f"this PostgreSQL has no {self.kind}"

    def do(self, site: Site) -> None:
        """Kill one of them."""
        pids = [pid for pid, kind in embedded_in(site).backends().items() if kind == self.kind]
        signal_all((site.chance.choice(pids),), signal.SIGKILL)


class ImmediateStop(EmbeddedFault):
    """PostgreSQL is stopped as by a power cut, and started two seconds later."""

    name: ClassVar = "PostgreSQL stopped at once"
    seconds: ClassVar = 2.0

    def do(self, site: Site) -> None:
        """Crash it."""
        embedded_in(site).stop("immediate")


class FastStop(EmbeddedFault):
    """PostgreSQL is restarted in order."""

    name: ClassVar = "PostgreSQL restarted in order"
    seconds: ClassVar = 1.0

    def do(self, site: Site) -> None:
        """Stop it."""
        embedded_in(site).stop("fast")


class PostmasterKilled(EmbeddedFault):
    """The server's first process is killed; its children must end before another may start."""

    name: ClassVar = "the postmaster killed"
    seconds: ClassVar = 1.0

    def do(self, site: Site) -> None:
        """Kill it."""
        signal_all((embedded_in(site).postmaster(),), signal.SIGKILL)


def _killing(of: str) -> Drawn:
    return type("BackendKilled", (BackendKilled,), {"kind": of, "name": f"backend killed: {of}"})


FAULTS: tuple[Drawn, ...] = (*map(_killing, KINDS), ImmediateStop, FastStop, PostmasterKilled)
