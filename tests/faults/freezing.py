"""Processes that hang instead of ending: stopped, so that the kernel answers for them and nobody else does."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jackpot_service.database import embedded


@contextmanager
def frozen(*pids: int) -> Iterator[None]:
    """Stop processes for as long as the block runs."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def frozen_server(cluster: embedded.Cluster) -> Iterator[Callable[[], None]]:
    """Stop a PostgreSQL and all of its backends for as long as the block runs, or until what it yields is called."""
    postmaster = embedded.postmaster_pid(cluster)
    pids = [postmaster]

    def thaw() -> None:
        while pids:
            with suppress(ProcessLookupError):
                os.kill(pids.pop(), signal.SIGCONT)

    try:
        os.kill(postmaster, signal.SIGSTOP)  # First: from then on it starts no others.
        pids += _children(postmaster)
        for pid in pids[1:]:
            os.kill(pid, signal.SIGSTOP)
        yield thaw
    finally:
        thaw()


def _children(parent: int) -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _parent_of(path) == parent]


def _parent_of(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # It has ended meanwhile.
        return 0


@contextmanager
def refusing_server(answer: bytes | None) -> Iterator[int]:
    """Give one client of PostgreSQL's protocol that error and hang up; with None, listen no more. Yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]

        def refuse(message: bytes) -> None:
            client, _ = server.accept()
            with client:
                client.recv(1000)
                client.sendall(b"E" + (len(message) + 4).to_bytes(4) + message if message else b"")

        if answer is None:
            server.close()
            yield port
            return
        thread = threading.Thread(target=refuse, args=[answer])
        thread.start()
        yield port
        thread.join()


@contextmanager
def silent_server() -> Iterator[int]:
    """Listen on a port where whoever connects is taken, and never hears a word; yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: list[socket.socket] = []

        def take() -> None:
            with suppress(OSError):
                while True:
                    taken.append(server.accept()[0])

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        port: int = server.getsockname()[1]
        try:
            yield port
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for client in taken:
                client.close()
