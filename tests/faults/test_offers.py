"""A connection that a worker offers to another: one of the two has it, and only one."""

import asyncio
import os
import select
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jackpot_service.server.clients import Clients
from jackpot_service.server.colleagues import Colleagues
from jackpot_service.server.loop import Loop
from jackpot_service.server.offers import MOST_OFFERS, Offers, take

LONGEST_WAIT_S = 60


@dataclass
class Offering:
    """A worker's loop that offers one end of a connection, and the client at its other end."""

    loop: Loop
    connection: socket.socket
    client: socket.socket
    back: list[int] = field(default_factory=list)
    """Connections that were taken back."""
    sent: list[tuple[int, int]] = field(default_factory=list)
    """What the other worker has: connections and their tokens."""

    def __post_init__(self) -> None:
        self.offers = Offers(self.loop, self.back.append)

    def offer(self, send: Callable[[int, int], object] | None = None) -> bool:
        """Offer the connection, as one that is closed here then."""
        return self.offers.make(self.connection.fileno(), send=send or self._send)

    def _send(self, connection: int, token: int) -> None:
        self.sent.append((os.dup(connection), os.dup(token)))

    def run_until(self, it_is_so: Callable[[], object]) -> None:
        async def wait() -> None:
            async with asyncio.timeout(LONGEST_WAIT_S):
                while not it_is_so():  # noqa: ASYNC110  nothing tells when
                    await asyncio.sleep(0.005)

        self.loop.run_until_complete(wait())

    def close(self) -> None:
        self.offers.take_back_all()
        for file in (*self.back, *(file for files in self.sent for file in files)):
            os.close(file)
        self.connection.close()
        self.client.close()
        self.loop.close()


@pytest.fixture
def offering() -> Iterator[Offering]:
    with closing(Offering(Loop(), *socket.socketpair())) as offering:
        yield offering


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_the_other_has_taken_and_closed_is_closed_for_its_client(offering: Offering) -> None:
    assert offering.offer()
    ((connection, token),) = offering.sent
    assert take(token)
    assert not take(token)
    offering.connection.close()
    os.close(connection)
    offering.sent.clear()
    offering.run_until(lambda: select.select([offering.client], [], [], 0)[0])
    assert offering.client.recv(1) == b""
    offering.offers.take_back_all()
    assert offering.back == []
    os.close(token)


def test_what_the_other_does_not_take_comes_back_and_cannot_be_taken_any_more(offering: Offering) -> None:
    assert offering.offer()
    offering.run_until(lambda: offering.back)
    ((_, token),) = offering.sent
    assert not take(token)
    offering.client.send(b"request")
    assert os.read(offering.back[0], 100) == b"request"


def test_what_cannot_be_sent_leaves_no_file_behind(offering: Offering) -> None:
    def refuse(_connection: int, _token: int) -> None:
        raise BlockingIOError

    before = open_files()
    assert not offering.offer(refuse)
    assert open_files() == before


def test_a_worker_offers_only_so_many_at_a_time(offering: Offering) -> None:
    assert [offering.offer() for _ in range(MOST_OFFERS + 1)] == [True] * MOST_OFFERS + [False]
    offering.offers.take_back_all()
    assert len(offering.back) == MOST_OFFERS
    assert offering.offer()


def test_a_worker_that_does_not_listen_yet_takes_nothing(offering: Offering, tmp_path: Path) -> None:
    with closing(Colleagues(tmp_path, Clients(most_body_bytes=1), offering.loop)):
        (other,) = tmp_path.glob("worker-*")

        def send(connection: int, token: int) -> None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
                sending.connect(str(other))
                socket.send_fds(sending, [struct.pack("d", 0.0)], [connection, token])

        assert offering.offer(send)
        offering.run_until(lambda: offering.back)
