"""The processes of table servers: started, stopped in order, killed; each is known by its process id."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from tests.chaos.call_log import now_s
from tests.chaos.table_server import Table

LONGEST_STOP_S = 60
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass
class Generators:
    """Everybody who plays; `directory` is where they write what they send and what they are answered."""

    directory: Path
    host: str
    tables: Sequence[Table]
    seed: int
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    servers_of: dict[str, int] = field(default_factory=dict)
    killed_s: dict[str, float] = field(default_factory=dict)
    """When each table server was killed that was: it could not note what became of its last attempt."""

    def start(self, name: str, *, port: int, servers: int, pause_s: float, bets_only: bool = False) -> None:
        """Start a process; its name is used once."""
        plan = {
            "name": name,
            "directory": str(self.directory),
            "host": self.host,
            "port": port,
            "seed": self.seed,
            "servers": servers,
            "pause_s": pause_s,
            "bets_only": bets_only,
            "tables": [asdict(table) for table in self.tables],
        }
        path = self.directory / f"{name}.plan"
        path.touch(mode=0o600)
        path.write_bytes(orjson.dumps(plan))
        command = [sys.executable, "-m", "tests.chaos.table_process", str(path)]
        self.processes[name] = subprocess.Popen(command, cwd=CHECKOUT, start_new_session=True)
        self.servers_of[name] = servers

    def names(self) -> frozenset[str]:
        """Return the names of the table servers that play now."""
        return frozenset(server for name in self.servers_of for server in self.names_of(name))

    def names_of(self, name: str) -> frozenset[str]:
        """Return the names of the table servers of one process."""
        return frozenset(f"{name}-{n}" for n in range(self.servers_of[name]))

    def kill(self, name: str) -> None:
        """Kill a process at once, whatever it has in progress."""
        servers = self.names_of(name)
        process = self._forget(name)
        process.kill()
        process.wait()
        self.killed_s |= dict.fromkeys(servers, now_s())

    def stop(self, name: str) -> None:
        """Let a process end its rounds, for some time at most."""
        process = self._forget(name)
        process.terminate()
        _wait(process)

    def stop_all(self) -> None:
        """Let all end their rounds."""
        for process in self.processes.values():
            process.terminate()
        for name in tuple(self.processes):
            _wait(self._forget(name))

    def kill_all(self) -> None:
        """Leave no process behind."""
        for name in tuple(self.processes):
            self.kill(name)

    def _forget(self, name: str) -> "subprocess.Popen[bytes]":
        del self.servers_of[name]
        return self.processes.pop(name)


def _wait(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(LONGEST_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
