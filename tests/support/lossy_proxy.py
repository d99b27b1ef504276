"""A proxy on this machine between a program and a service, which loses what a test has it lose."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HOST = "127.0.0.1"


@dataclass
class LossyProxy:
    """Passes bytes on in both directions; while `loses_answers`, an answer ends its connection instead."""

    upstream_port: int
    port: int = 0
    loses_answers: threading.Event = field(default_factory=threading.Event)
    lost: int = 0

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        """Serve one connection until either side ends it."""
        with connection, suppress(OSError), socket.create_connection((HOST, self.upstream_port)) as upstream:
            asking = threading.Thread(target=self._ask, args=(connection, upstream), daemon=True)
            asking.start()
            while piece := upstream.recv(65536):
                if self.loses_answers.is_set():
                    self.lost += 1
                    break
                connection.sendall(piece)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
                upstream.shutdown(socket.SHUT_RDWR)
            asking.join()

    @staticmethod
    def _ask(connection: socket.socket, upstream: socket.socket) -> None:
        with suppress(OSError):
            while piece := connection.recv(65536):
                upstream.sendall(piece)
            upstream.shutdown(socket.SHUT_WR)


@contextmanager
def lossy_proxy(upstream_port: int) -> Iterator[LossyProxy]:
    """Run a proxy in front of a port."""
    proxy = LossyProxy(upstream_port)
    with socket.create_server((HOST, 0)) as server:
        proxy.port = server.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=proxy.serve, args=(connection,), daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield proxy
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        accepting.join(10)
