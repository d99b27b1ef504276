"""The listening socket of a service that ends: who is connected is served, and nobody else comes."""

import ctypes
import select
import socket
import struct
from collections.abc import Iterator

import pytest

from jackpot_service.server.supervisor import take_no_more
from tests.faults.processes import LONGEST_WAIT_S
from tests.faults.service import HOST

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)
A_WHILE_S = 0.3


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as listening:
        yield listening


def connecting(listener: socket.socket, client: socket.socket) -> None:
    client.settimeout(0)
    client.connect_ex(listener.getsockname())


def be_deaf(client: socket.socket) -> None:
    """Have a client miss what comes, as if the network lost it."""
    instruction = ctypes.create_string_buffer(DROP_ALL, len(DROP_ALL))
    client.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(instruction)))


def hear_again(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def comes(listener: socket.socket, within_s: float) -> bool:
    return bool(select.select([listener], [], [], within_s)[0])


def test_a_connection_that_is_being_made_when_the_service_ends_is_made(listener: socket.socket) -> None:
    """The kernel has answered the first packet of a client, which takes itself for connected and sends its request."""
    with socket.socket() as client:
        be_deaf(client)
        connecting(listener, client)
        assert not comes(listener, A_WHILE_S)
        take_no_more(listener)
        hear_again(client)
        assert comes(listener, LONGEST_WAIT_S)
        taken, _ = listener.accept()
        with taken:
            client.sendall(b"request")
            taken.settimeout(LONGEST_WAIT_S)
            assert taken.recv(16) == b"request"


def test_who_waits_in_the_listening_socket_is_served_when_the_service_ends(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as client:
        take_no_more(listener)
        client.sendall(b"request")
        taken, _ = listener.accept()
        with taken:
            taken.settimeout(LONGEST_WAIT_S)
            assert taken.recv(16) == b"request"


def test_nobody_connects_any_more_when_the_service_ends(listener: socket.socket) -> None:
    take_no_more(listener)
    with socket.socket() as client:
        connecting(listener, client)
        assert not comes(listener, A_WHILE_S)
        listener.close()
        _, connected, _ = select.select([], [client], [], LONGEST_WAIT_S)
        assert connected
        assert client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
