import socketserver
import threading
from collections.abc import Iterator

import pytest

from bench import load, verification

REQUEST = b"POST / HTTP/1.1\r\n\r\n"
ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"


class Batches:
    expected = b"HTTP/1.1 201 "

    def make(self, _connection_no: int) -> bytes:
        return REQUEST

    def check(self, answer: bytes) -> None:
        assert answer == ANSWER


class Answering(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while self.request.recv(1000):
            self.request.sendall(ANSWER)


class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 64  # By default five may wait, and a sixth tries again after a second.


@pytest.fixture
def port() -> Iterator[int]:
    with Server(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_what_one_run_of_the_load_has_no_time_for_another_loads(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MOST_SECONDS", 0)  # Then a run ends with the first answer on each connection.

    assert verification.load_batches(port, Batches(), 100) >= 100
