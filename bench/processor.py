"""The processor time that the service and PostgreSQL have used."""

from contextlib import suppress

import psutil

from bench import databases
from bench.servers import Server

_WORKER = "spawn_main"
"""What the command line of a worker says: how Python starts a process of a pool."""


def workers_seconds(server: Server) -> float:
    """Return the processor time that the workers of the service have used since they began."""
    children = psutil.Process(server.pid).children()
    return sum(_seconds(child) for child in children if any(_WORKER in word for word in child.cmdline()))


def database_seconds(server: Server) -> float:
    """Return the processor time that PostgreSQL has used since it began: all its processes, also those that ended."""
    postmaster = psutil.Process(databases.postmaster(server.database))
    living = 0.0
    for process in postmaster.children():
        # A backend may end meanwhile: its time is then the postmaster's, which is read last.
        with suppress(psutil.NoSuchProcess):
            living += _seconds(process)
    times = postmaster.cpu_times()
    ended: float = times.children_user + times.children_system
    return _seconds(postmaster) + living + ended


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    used: float = times.user + times.system
    return used
