"""Everything that a fault may reach, running: the database, the service, the table servers and their disk."""

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from tests.chaos import database, program, service, world
from tests.chaos.call_log import CallReader
from tests.chaos.database import Database
from tests.chaos.disk import Disk
from tests.chaos.generators import Generators
from tests.chaos.service import HOST, PORTS, Service
from tests.chaos.world import World

WORKERS: Final = 2
PROCESSES: Final = 2
"""Of table servers."""


@dataclass
class Site:
    """What is attacked, and what attacks are drawn by."""

    directory: Path
    world: World
    database: Database
    service: Service
    generators: Generators
    reader: CallReader
    chance: random.Random
    servers: int
    """Table servers in all, at a usual load."""
    pause_s: float
    disk: Disk | None = None
    _names: Iterator[int] = field(default_factory=lambda: count(1))

    def start_playing(self) -> None:
        """Start the usual load."""
        for _ in range(PROCESSES):
            self.start_tables(servers=self.servers // PROCESSES)

    def start_tables(
        self, *, servers: int, port: int | None = None, pause_s: float | None = None, bets_only: bool = False
    ) -> str:
        """Start a further process of table servers; returns its name."""
        name = f"g{next(self._names)}"
        self.generators.start(
            name,
            port=port or self.service.port,
            servers=servers,
            pause_s=self.pause_s if pause_s is None else pause_s,
            bets_only=bets_only,
        )
        return name

    def another_service(self, variables: Mapping[str, str]) -> Service:
        """Make a second service on the same database, on a port of its own, with a clock of its own."""
        port = service.free_port(self.chance.sample(PORTS, 50))
        command = program.serving_by_another_clock(host=HOST, port=port)
        environment = {**self.service.environment, **variables}
        return Service(command, environment, port, self.directory / "shifted.log")

    def bring_back(self) -> None:
        """Start whatever does not run, as an operator would. Raises: NotServing; EmbeddedError."""
        self.database.bring_back()
        self.service.keep_running()
        self.service.wait_until_ready()


@contextmanager
def opened(
    directory: Path,
    home: World,
    attacked: Database,
    *,
    seed: int,
    servers: int,
    pause_s: float = 0.05,
    disk: Disk | None = None,
) -> Iterator[Site]:
    """Serve a database that is set up, and leave no process behind. Raises: NotServing."""
    directory.mkdir(exist_ok=True)
    chance = random.Random(seed)
    port = service.free_port(chance.sample(PORTS, 50))
    environment = program.environment(program.service_url(attacked.owner_url))
    command = program.serving(host=HOST, port=port, workers=WORKERS)
    served = Service(command, environment, port, directory / "service.log")
    generators = Generators(directory, HOST, home.tables, seed)
    site = Site(directory, home, attacked, served, generators, CallReader(directory), chance, servers, pause_s, disk)
    with ExitStack() as stack:
        stack.callback(served.end_session)
        stack.callback(served.stop)
        stack.callback(generators.kill_all)
        served.start()
        yield site


def set_up_in(directory: Path) -> World:
    """Set a database up once in a directory, and stop it, so that others can be copies of it."""
    with database.running(directory, database.SETTINGS) as made:
        return world.set_up(made.owner_url)
