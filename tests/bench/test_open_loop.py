import socket
import threading
import time
from collections.abc import Iterator

import pytest

from bench import load, open_loop
from bench.wire import LoadFailed, is_whole

REQUEST = b"GET / HTTP/1.1\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STALL_SECONDS = 0.3


class Questions:
    expected = b"HTTP/1.1 200 "

    def make(self, _connection_no: int) -> bytes:
        return REQUEST

    def check(self, answer: bytes) -> None:
        assert answer == ANSWER


class StallingServer:
    """It answers at once, but for one stall of everybody, at the request of that number."""

    def __init__(self, listener: socket.socket, *, stalls_at: int) -> None:
        self._listener = listener
        self._stalls_at = stalls_at
        self._answered = 0
        self._lock = threading.Lock()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while connection.recv(1000):
                with self._lock:
                    self._answered += 1
                    if self._answered == self._stalls_at:
                        time.sleep(STALL_SECONDS)
                connection.sendall(ANSWER)


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=StallingServer(listener, stalls_at=50).serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_schedule_is_the_same_every_time_and_of_about_the_rate_that_was_asked_for() -> None:
    times = open_loop.schedule(1000, 2)

    assert times == open_loop.schedule(1000, 2)
    assert 1800 < len(times) < 2200
    assert sorted(times) == times
    assert times[-1] < 2e9


def test_the_open_loop_counts_a_stall_for_every_request_it_would_have_delayed(port: int) -> None:
    due_ns = [number * 5_000_000 for number in range(150)]

    seen = open_loop.run(port, Questions(), due_ns=due_ns).latencies

    # Due during the stall were 60 requests; those of its first half waited for at least the other half of it.
    assert sum(took_ns > STALL_SECONDS / 2 * 1e9 for took_ns in seen.took_ns) >= 30
    assert len(seen.took_ns) == 150


def test_the_closed_loop_counts_it_only_for_those_in_flight(port: int) -> None:
    seen = load.run(port, Questions(), connections=2, seconds=0.8).latencies

    assert sum(took_ns > STALL_SECONDS / 2 * 1e9 for took_ns in seen.took_ns) <= 2
    assert seen.longest_ms >= STALL_SECONDS * 1e3


def _doing_something() -> str:
    time.sleep(0.1)
    return "done"


def test_load_goes_on_during_what_is_done_and_ends_with_it(port: int) -> None:
    result, loaded = load.run_during(_doing_something, port, Questions(), connections=2)

    assert result == "done"
    assert loaded.requests > 2


def test_another_answer_than_expected_ends_the_run(port: int) -> None:
    questions = Questions()
    questions.expected = b"HTTP/1.1 201 "

    with pytest.raises(LoadFailed, match="201 was expected, not HTTP"):
        load.run(port, questions, connections=1, seconds=1)


@pytest.mark.parametrize("answer", [ANSWER, b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"])
def test_an_answer_is_whole_with_its_last_byte(answer: bytes) -> None:
    assert is_whole(answer)
    assert not any(is_whole(answer[:length]) for length in range(len(answer)))
