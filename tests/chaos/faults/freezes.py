"""Processes of PostgreSQL frozen: they neither answer nor end, and their connections stay open."""

import signal
from collections.abc import Sequence
from typing import ClassVar

from tests.chaos.database import CLIENT, Embedded
from tests.chaos.faults.fault import EmbeddedFault, embedded_in
from tests.chaos.program import signal_all
from tests.chaos.site import Site


class Frozen(EmbeddedFault):
    """Some processes are stopped by SIGSTOP, for longer than a call may take, and then go on."""

    seconds: ClassVar = 9.0

    def __init__(self) -> None:
        self._pids: tuple[int, ...] = ()

    def chosen(self, site: Site, database: Embedded) -> Sequence[int]:
        """Choose the processes."""
        raise NotImplementedError

    def do(self, site: Site) -> None:
        """Freeze them."""
        self._pids = tuple(self.chosen(site, embedded_in(site)))
        signal_all(self._pids, signal.SIGSTOP)

    def undo(self, _site: Site) -> None:
        """Let them go on."""
        signal_all(self._pids, signal.SIGCONT)


class BackendFrozen(Frozen):
    """One connection's process stands still, with whatever it holds."""

    name: ClassVar = "one backend frozen"

    def chosen(self, site: Site, database: Embedded) -> Sequence[int]:
        """Choose one of the clients'."""
        return (site.chance.choice([pid for pid, kind in database.backends().items() if kind == CLIENT]),)


class BackendsFrozen(Frozen):
    """Every connection's process stands still; new connections are answered."""

    name: ClassVar = "all backends frozen"

    def chosen(self, _site: Site, database: Embedded) -> Sequence[int]:
        """Choose all of the clients'."""
        return [pid for pid, kind in database.backends().items() if kind == CLIENT]


class WriterFrozen(Frozen):
    """The process that writes the log in the background stands still."""

    name: ClassVar = "the walwriter frozen"

    def chosen(self, _site: Site, database: Embedded) -> Sequence[int]:
        """Choose it."""
        return [pid for pid, kind in database.backends().items() if kind == "walwriter"]


class PostmasterFrozen(Frozen):
    """Nobody answers new connections; the old ones go on."""

    name: ClassVar = "the postmaster frozen"

    def chosen(self, _site: Site, database: Embedded) -> Sequence[int]:
        """Choose the first process alone."""
        return (database.postmaster(),)


class ServerFrozen(Frozen):
    """All of PostgreSQL stands still, as on a host that hangs."""

    name: ClassVar = "all of PostgreSQL frozen"

    def chosen(self, _site: Site, database: Embedded) -> Sequence[int]:
        """Choose everything."""
        return database.every_process()


FAULTS = (BackendFrozen, BackendsFrozen, WriterFrozen, PostmasterFrozen, ServerFrozen)
