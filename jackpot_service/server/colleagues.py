"""The other workers of a service, as a worker sees them: what they do, and connections that pass between them."""

import asyncio
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog

from jackpot_service.server import choice
from jackpot_service.server.board import Board, State
from jackpot_service.server.clients import Clients
from jackpot_service.server.loop import Loop
from jackpot_service.server.offers import Offers, take
from jackpot_service.server.protocol import Connection
from jackpot_service.telemetry import counters

BETWEEN_LOOKS_S: Final = 0.025

MOST_A_LOOK: Final = 4
"""Connections that a worker passes on before it looks what that has changed."""

LOOKS_REMEMBERED: Final = 4
"""The bytes in hand are a mean that goes back by so many looks, more or less."""

MOST_A_TURN: Final = 16
"""Connections that are taken from others before this worker's own go on."""

_MESSAGE: Final = struct.Struct("d")
"""Sent with a connection and its token: its part of the bytes in hand."""

_FILES: Final = struct.Struct("ii")

log = structlog.get_logger()


class Colleagues:
    """
    The other workers of the service.

    A connection passes through a socket of its own, whole: whatever its client sends waits in the kernel. Each worker
    has a socket in the directory that all of them share. Where a worker has ended, or takes none, the connection stays
    where it is, or comes back a moment later (`offers.py`).
    """

    def __init__(self, directory: Path, clients: Clients, loop: Loop) -> None:
        self._directory = directory
        self._clients = clients
        self._loop = loop
        self._board = Board(directory)
        self._move: choice.Move | None = None
        self._moved = 0
        self._in_hand = 0.0
        self._serving: set[asyncio.Task[object]] = set()
        self._offers = Offers(loop, self._begin)
        self._path(self._board.number).unlink(missing_ok=True)  # It was of a worker that was killed.
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(0)
        self._socket.bind(str(self._path(self._board.number)))
        loop.add_reader(self._socket, self._take)
        self._looking = loop.call_soon(self._look)

    @property
    def wants_less(self) -> bool:
        """Whether the next connection that has its answer is to be passed on."""
        return self._move is not None

    def pass_on(self, file: int) -> bool:
        """Pass on a connection of which a request was answered; returns whether another worker has it."""
        move = self._move
        if move is None:
            return False
        self._moved += 1
        if self._moved >= min(move.connections, MOST_A_LOOK):
            self._move = None
        return self._offer(file, str(self._path(move.home)))

    def leave(self) -> None:
        """Have nothing passed to this worker any more, and pass on nothing."""
        self._looking.cancel()
        self._move = None
        self._board.leave()
        self._path(self._board.number).unlink(missing_ok=True)
        self._loop.remove_reader(self._socket)  # Those who have passed on what is still in it take that back.
        self._offers.take_back_all()

    def close(self) -> None:
        """Be no colleague, also if it was not said before that this worker leaves."""
        self._looking.cancel()
        self._path(self._board.number).unlink(missing_ok=True)
        self._loop.remove_reader(self._socket)
        self._socket.close()
        self._board.close()

    def _path(self, number: int) -> Path:
        return self._directory / f"worker-{number}"

    def _state(self) -> State:
        return State(len(self._clients), self._in_hand)

    def _look(self) -> None:
        """Say what this worker does, and look whether a part of it is for another."""
        now = time.monotonic()
        self._in_hand += (self._clients.in_hand - self._in_hand) / LOOKS_REMEMBERED
        self._board.post(self._state(), now=now)
        self._move, self._moved = choice.next_move(self._board.number, self._board.states(now=now)), 0
        self._looking = self._loop.call_later(BETWEEN_LOOKS_S, self._look)

    def _offer(self, file: int, path: str) -> bool:
        part = choice.part_of(self._state())

        def send(connection: int, token: int) -> None:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, _FILES.pack(connection, token))
            # Not by `socket.send_fds`: Python 3.11 takes an address there, and does not use it.
            self._socket.sendmsg([_MESSAGE.pack(part)], [rights], 0, path)

        if not self._offers.make(file, send=send):
            return False
        self._in_hand -= part  # The mean would say so some looks later.
        return True

    def _take(self) -> None:
        """Serve the connections that others have passed on."""
        if self._loop.make_connection is None:  # It will in a moment.
            return
        for _ in range(MOST_A_TURN):
            try:
                message, files, _, _ = socket.recv_fds(self._socket, _MESSAGE.size, 2)
            except BlockingIOError:
                return
            for file in files:
                os.set_inheritable(file, False)  # noqa: FBT003  `recv_fds` drops its flags.
            connection, token = (*files, -1, -1)[:2]  # Some are missing where this worker may open no more.
            if token >= 0 and take(token):
                self._in_hand += _MESSAGE.unpack(message)[0]
                self._begin(connection)
                files.remove(connection)
            for file in files:
                os.close(file)

    def _begin(self, file: int) -> None:
        serving = self._loop.create_task(self._serve(socket.socket(fileno=file)))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)

    async def _serve(self, passed: socket.socket) -> None:
        try:
            passed.settimeout(0)
            await self._loop.connect_accepted_socket(self._made, passed)
        except OSError as error:  # Its client is gone.
            log.info("connection-not-taken", detail=str(error))
            passed.close()

    def _made(self) -> asyncio.BaseProtocol:
        assert self._loop.make_connection is not None  # noqa: S101  narrows a type: it listens by now
        connection = self._loop.make_connection()
        assert isinstance(connection, Connection)  # noqa: S101  narrows a type: it is the protocol of the settings
        connection.take_over()
        return connection


@contextmanager
def joined(clients: Clients) -> Iterator[None]:
    """Join the workers that share counters with this one for the time of the block, if there are any."""
    colleagues = clients.colleagues = _colleagues(clients)
    try:
        yield
    finally:
        if colleagues is not None:
            colleagues.close()


def _colleagues(clients: Clients) -> Colleagues | None:
    loop, shared = asyncio.get_running_loop(), os.environ.get(counters.DIRECTORY)
    if shared is None or not isinstance(loop, Loop):
        return None
    try:
        return Colleagues(Path(shared), clients, loop)
    except (OSError, LookupError) as error:
        log.warning("works-alone", detail=str(error))
        return None
