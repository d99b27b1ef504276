"""More than the service can take: many times the connections, bodies that do not come, keys that are none."""

import socket
import threading
from contextlib import suppress
from typing import ClassVar

from tests.chaos.faults.fault import Fault
from tests.chaos.service import HOST
from tests.chaos.site import Site

TIMES = 10
STALLED = 150
IDLE = 560
THREADS = 16
MOST_REQUESTS = 20_000
PATIENCE_S = 5.0


class TenTimesTheTables(Fault):
    """Ten times the table servers bet without a pause; what they bet is recorded like everything else."""

    name: ClassVar = "ten times the connections"
    seconds: ClassVar = 6.0

    def __init__(self) -> None:
        self._tables = ""

    def do(self, site: Site) -> None:
        """Start them."""
        self._tables = site.start_tables(servers=TIMES * site.servers, pause_s=0.0, bets_only=True)

    def undo(self, site: Site) -> None:
        """Let them end their calls."""
        if self._tables:
            site.generators.stop(self._tables)


class Sockets(Fault):
    """Connections are opened, something is sent on each, and nothing more."""

    number: ClassVar[int]
    seconds: ClassVar = 6.0

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def head(self, site: Site) -> bytes:
        """Return what is sent on each."""
        raise NotImplementedError

    def do(self, site: Site) -> None:
        """Open them; the service may close, or refuse, as many as it likes."""
        head = self.head(site)
        for _ in range(self.number):
            with suppress(OSError):
                opened = socket.create_connection((HOST, site.service.port), timeout=PATIENCE_S)
                self._sockets.append(opened)
                opened.sendall(head)

    def undo(self, _site: Site) -> None:
        """Close them."""
        for opened in self._sockets:
            opened.close()


class StalledBodies(Sockets):
    """Bodies of one casino's key are half sent."""

    name: ClassVar = "stalled bodies"
    number: ClassVar = STALLED

    def head(self, site: Site) -> bytes:
        """Return a head and the beginning of its body."""
        table = site.chance.choice(site.world.tables)
        lines = (
            f"POST /v1/tables/{table.table_id}/rounds/stalled/bets HTTP/1.1",
            f"Host: {HOST}",
            f"Authorization: Bearer {table.key}",
            "Content-Type: application/json",
            "Content-Length: 1000",
        )
        return "\r\n".join((*lines, "", '{"bets":[')).encode()


class IdleConnections(Sockets):
    """Connections that say nothing."""

    name: ClassVar = "idle connections"
    number: ClassVar = IDLE

    def head(self, _site: Site) -> bytes:
        """Return nothing."""
        return b""


class BadKeys(Fault):
    """A flood of calls with keys that are none, from some threads, bounded in number."""

    name: ClassVar = "a flood of bad keys"
    seconds: ClassVar = 5.0

    def __init__(self) -> None:
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def do(self, site: Site) -> None:
        """Start the threads."""
        for number in range(THREADS):
            thread = threading.Thread(target=self._flood, args=(site.service.port, number), daemon=True)
            self._threads.append(thread)
            thread.start()

    def undo(self, _site: Site) -> None:
        """End them."""
        self._over.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE_S)

    def _flood(self, port: int, number: int) -> None:
        sent = 0
        while not self._over.is_set() and sent < MOST_REQUESTS // THREADS:
            with suppress(OSError), socket.create_connection((HOST, port), timeout=PATIENCE_S) as opened:
                while not self._over.is_set() and sent < MOST_REQUESTS // THREADS:
                    sent += 1
                    opened.sendall(_with_bad_key(f"jk_{number:08x}{sent:08x}_{'0' * 64}"))
                    if not opened.recv(65_536):
                        break


def _with_bad_key(key: str) -> bytes:
    lines = ("GET /v1/jackpots HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {key}")
    return "\r\n".join((*lines, "", "")).encode()


FAULTS = (TenTimesTheTables, StalledBodies, IdleConnections, BadKeys)
