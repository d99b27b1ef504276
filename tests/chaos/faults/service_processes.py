"""Processes of the service killed, and the processes of the table servers."""

import signal
from typing import ClassVar

from tests.chaos.faults.fault import Fault
from tests.chaos.program import signal_all
from tests.chaos.site import Site

ORPHANED_S = 3.0
"""Seconds after which whatever lost its parent has noticed."""


class WorkerKilled(Fault):
    """One worker is killed; the supervisor starts another."""

    name: ClassVar = "a worker killed"

    def do(self, site: Site) -> None:
        signal_all((site.chance.choice(site.service.roles().workers),), signal.SIGKILL)


class WorkersKilled(Fault):
    """All workers are killed at once."""

    name: ClassVar = "all workers killed"

    def do(self, site: Site) -> None:
        signal_all(site.service.roles().workers, signal.SIGKILL)


class SupervisorKilled(Fault):
    """The process above the workers is killed; they must end too, or they would hold the port."""

    name: ClassVar = "the supervisor killed"
    seconds: ClassVar = ORPHANED_S

    def do(self, site: Site) -> None:
        signal_all((site.service.roles().supervisor,), signal.SIGKILL)


class CommandKilled(Fault):
    """The command that an operator started is killed, and nothing else."""

    name: ClassVar = "the command killed"
    seconds: ClassVar = ORPHANED_S

    def do(self, site: Site) -> None:
        site.service.signal(signal.SIGKILL)
        if site.service.process is not None:
            site.service.process.wait()


class JobRunnerKilled(Fault):
    """The job runner is killed; it is started again."""

    name: ClassVar = "the job runner killed"

    def impossible(self, site: Site) -> str:
        return "" if site.service.roles().job_runner else "the service has no job runner"

    def do(self, site: Site) -> None:
        runner = site.service.roles().job_runner
        signal_all(() if runner is None else (runner,), signal.SIGKILL)


class EverythingKilled(Fault):
    """Every process of the service is killed, as when its machine ends."""

    name: ClassVar = "every process of the service killed"

    def do(self, site: Site) -> None:
        site.service.end_session()


class TablesKilled(Fault):
    """A process of table servers is killed with calls in progress; others take its place, with other rounds."""

    name: ClassVar = "table servers killed"

    def do(self, site: Site) -> None:
        name = site.chance.choice(sorted(site.generators.processes))
        servers = site.generators.servers_of[name]
        site.generators.kill(name)
        site.start_tables(servers=servers)


class Stopped(Fault):
    """The service is told to end, under load, and started again."""

    name: ClassVar = "restarted by SIGTERM"

    def do(self, site: Site) -> None:
        site.service.stop()


class HungUp(Fault):
    """The service is sent SIGHUP, under load."""

    name: ClassVar = "SIGHUP"
    seconds: ClassVar = 2.0

    def do(self, site: Site) -> None:
        site.service.signal(signal.SIGHUP)


FAULTS = (
    WorkerKilled,
    WorkersKilled,
    SupervisorKilled,
    CommandKilled,
    JobRunnerKilled,
    EverythingKilled,
    TablesKilled,
    Stopped,
    HungUp,
)
