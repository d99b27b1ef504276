"""The real server as processes of its own, to be killed and started again, on a port that stays the same."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import httpx

HOST = "127.0.0.1"
LONGEST_START_S = 60
LONGEST_ANSWER_S = 20
# Below the range from which the kernel takes the ports of clients: one that asks a dead server would else at times be
# connected to itself.
PORTS = range(15_000, 30_000)


@dataclass
class Service:
    """`jackpot serve` on a database; all its processes form one group."""

    url: str
    log: Path
    workers: int = 2
    port: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None
    version: Path | None = None
    """Where the package of another version is, if it is to be served."""

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command = [sys.executable, "-m", "jackpot_service.cli", "serve", f"--host={HOST}", f"--port={self.port}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, f"--workers={self.workers}"],
                env={**os.environ, **self.settings, "JACKPOT_DATABASE_URL": self.url},
                cwd=self.version,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + LONGEST_START_S
        while self.status_of("/readyz") != httpx.codes.OK:
            assert self.process.poll() is None, f"the server ended: {self.log.read_text()}"
            assert time.monotonic() < until, f"the server does not get ready: {self.log.read_text()}"
            time.sleep(0.02)

    def status_of(self, path: str) -> int:
        """Ask for a page without a key; returns the status, 0 for no answer."""
        try:
            return httpx.get(f"{self.base_url}{path}", trust_env=False, timeout=LONGEST_ANSWER_S).status_code
        except httpx.TransportError:
            return 0

    def stop(self) -> None:
        """Stop it as an operator does, and wait until it has ended."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        """Kill every process of it, as the machine would; does nothing if it does not run."""
        if self.process is not None:
            with suppress(ProcessLookupError):  # They have all ended, unasked.
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@contextmanager
def served(
    url: str, log: Path, *, starts: bool = True, version: Path | None = None, settings: Mapping[str, str] = NO_SETTINGS
) -> Iterator[Service]:
    """Serve a database, at once or later, and leave no process behind."""
    service = Service(url, log, settings=dict(settings), version=version)
    try:
        service.port = free_port()
        if starts:
            service.start()
        yield service
    finally:
        service.kill()


def free_port() -> int:
    """Find a port that nobody listens on."""
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        return port
