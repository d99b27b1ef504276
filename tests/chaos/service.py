"""The running service: started as an operator would, and brought back when a fault has ended it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.chaos import program

HOST = "127.0.0.1"
PORTS = range(15_000, 30_000)
"""Below the range from which the kernel takes the ports of clients."""

LONGEST_START_S = 60.0
LONGEST_STOP_S = 30.0
ASKED_S = 6.0


class NotServing(Exception):
    """The service does not become ready."""


@dataclass
class Service:
    """A command that serves on a port; all its processes form a session, so that none is left behind."""

    command: Sequence[str]
    environment: dict[str, str] = field(repr=False)
    port: int
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    def launch(self) -> None:
        """Start it, and do not wait."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=program.CHECKOUT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start it and wait until it is ready. Raises: NotServing."""
        self.launch()
        self.wait_until_ready()

    def keep_running(self) -> None:
        """Start it again if it has ended, as a service manager does; what it left behind is ended first."""
        if not self.is_running():
            self.end_session()
            self.launch()

    def wait_until_ready(self) -> None:
        """Wait; a service that ends meanwhile is started again. Raises: NotServing."""
        until = time.monotonic() + LONGEST_START_S
        while self.status_of("/readyz") != 200:
            if time.monotonic() > until:
                message = f"the service on port {self.port} does not become ready; its log is {self.log}"
                raise NotServing(message)
            time.sleep(0.1)
            self.keep_running()

    def is_running(self) -> bool:
        """Return whether the command that was started runs."""
        return self.process is not None and self.process.poll() is None

    def status_of(self, path: str) -> int:
        """Ask for a page without a key; returns the status, 0 for no answer."""
        connection = HTTPConnection(HOST, self.port, timeout=ASKED_S)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, HTTPException):
            return 0
        finally:
            connection.close()

    @property
    def pid(self) -> int:
        """Return the process id of the command. Raises: NotServing if it was never started."""
        if self.process is None:
            message = "the service was not started"
            raise NotServing(message)
        return self.process.pid

    def roles(self) -> program.Roles:
        """Tell its processes apart. Raises: LookupError."""
        return program.roles(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send the command a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def stop(self) -> float:
        """Stop it as an operator does; returns the seconds that it took. What does not end in time is killed."""
        began_s = time.monotonic()
        self.signal(signal.SIGTERM)
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(LONGEST_STOP_S)
        self.end_session()
        return time.monotonic() - began_s

    def end_session(self) -> None:
        """Kill whatever is left of its processes."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


def free_port(chance: Sequence[int]) -> int:
    """Return the first of some ports that nobody listens on. Raises: NotServing if there is none."""
    for port in chance:
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
    message = "no port is free"
    raise NotServing(message)
