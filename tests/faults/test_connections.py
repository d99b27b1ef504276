"""One connection, given piece by piece what a client may send: what it holds, when it ends, what it answers last."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from jackpot_service.api.asgi import PRESENCE, Presence, Receive, Scope, Send, answer
from jackpot_service.server.clients import Clients
from jackpot_service.server.framing import LONGEST_HEAD, MOST_FIELDS
from jackpot_service.server.protocol import (
    CLIENTS,
    CONNECTION,
    KEPT_FOR_S,
    LONGEST_ANSWER_S,
    LONGEST_REQUEST_S,
    PIECE,
    WEIGHT_IN_A_THREAD,
    WEIGHT_OF_A_REPORT,
    WEIGHT_OF_A_REQUEST,
    Connection,
)

pytestmark = pytest.mark.slow

GET = b"GET / HTTP/1.1\r\nHost:\r\n\r\n"
UPGRADE = b"GET / HTTP/1.1\r\nHost:\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nHost: h\r\n"
MANY = 2_000
LARGE = 20_000_000
LONGEST_WAIT_S = 60


async def until(it_is_so: Callable[[], bool]) -> None:
    """Let the loop go on until something is so."""
    while not it_is_so():  # noqa: ASYNC110  what becomes so is no test's to announce
        await asyncio.sleep(0)


class Served:
    """An application that answers when it may, and one connection of a client to it."""

    def __init__(self, client: socket.socket, body: bytes, headers: dict[bytes, bytes]) -> None:
        self.client = client
        self.clients = Clients(most_body_bytes=1_000_000)
        self.connection: Connection
        self.presence: Presence
        self.calls = 0
        self.has_body = False
        self.may_answer = asyncio.Event()
        self._body = body
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        connection = scope["state"].pop(CONNECTION)
        self.presence = scope["state"][PRESENCE]
        await receive()
        self.has_body = True
        await self.may_answer.wait()
        headers = {b"content-length": b"%d" % len(self._body), **self._headers}
        try:
            await answer(send, 200, list(headers.items()), self._body)
        finally:
            connection.request_answered()

    def connect(self) -> Connection:
        settings = uvicorn.Config(self, http=Connection, ws="none", lifespan="off", log_config=None)
        self.connection = Connection(config=settings, server_state=ServerState(), app_state={CLIENTS: self.clients})
        return self.connection

    async def send(self, data: bytes) -> None:
        """Send, and wait until the application was asked."""
        before = self.calls
        await asyncio.get_running_loop().sock_sendall(self.client, data)
        await until(lambda: self.calls > before)

    async def take(self, count: int) -> bytes:
        """Take so many bytes of the answers, fewer if the connection ends."""
        loop, taken = asyncio.get_running_loop(), bytearray()
        while len(taken) < count and (piece := await loop.sock_recv(self.client, count - len(taken))):
            taken += piece
        return bytes(taken)

    async def take_answers(self, count: int) -> bytes:
        loop, taken = asyncio.get_running_loop(), bytearray()
        while taken.count(b"HTTP/1.1 ") < count and (piece := await loop.sock_recv(self.client, 65_536)):
            taken += piece
        return bytes(taken)


@asynccontextmanager
async def served(body: bytes = b"ok", headers: dict[bytes, bytes] | None = None) -> AsyncIterator[Served]:
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        client.settimeout(0)
        served_ = Served(client, body, headers or {})
        server = await loop.create_server(served_.connect, "127.0.0.1", 0)
        async with server:
            await loop.sock_connect(client, server.sockets[0].getsockname())
            await until(lambda: len(served_.clients) == 1)
            yield served_
            client.close()
            await until(lambda: len(served_.clients) == 0)


def play(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, LONGEST_WAIT_S))


@pytest.mark.parametrize(
    "more",
    [b"a:\r\n" * (LONGEST_HEAD // 8), b"X-Long: " + b"a" * (LONGEST_HEAD + 2 * PIECE)],
    ids=["many small fields", "one that is long"],
)
def test_a_head_that_is_too_large_is_refused_before_its_end_also_if_it_comes_in_one_piece(more: bytes) -> None:
    async def test() -> None:
        async with served() as served_:
            served_.connection.data_received(HALF + more)
            assert len(served_.connection.head.fields) <= MOST_FIELDS
            assert (await served_.take_answers(1)).startswith(b"HTTP/1.1 431 ")

    play(test())


def test_a_worker_that_takes_a_connection_lets_another_worker_take_the_next() -> None:
    async def test() -> None:
        async with served() as served_:
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            served_.connect()
            assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw > before

    play(test())


def test_a_client_that_says_at_once_that_it_sends_no_more_has_its_answer() -> None:
    async def test() -> None:
        async with served() as served_:
            served_.may_answer.set()
            served_.client.send(GET)
            served_.client.shutdown(socket.SHUT_WR)
            assert (await served_.take(MANY)).startswith(b"HTTP/1.1 200 ")

    play(test())


def test_what_is_refused_behind_a_request_leaves_the_request_its_answer_also_if_no_more_is_sent() -> None:
    async def test() -> None:
        async with served() as served_:
            await served_.send(GET + b"no request\r\n\r\n")
            served_.client.shutdown(socket.SHUT_WR)
            await until(lambda: served_.connection._is_half_closed)
            served_.may_answer.set()
            answers = await served_.take(MANY)
            assert answers.startswith(b"HTTP/1.1 200 ")
            assert b"HTTP/1.1 400 " in answers

    play(test())


@pytest.mark.parametrize("request_", [GET, UPGRADE], ids=["plain", "upgrade"])
def test_of_requests_that_come_before_their_turn_few_are_read_and_all_are_answered(request_: bytes) -> None:
    async def test() -> None:
        async with served() as served_:
            served_.connection.data_received(MANY * request_)
            await until(lambda: served_.calls == 1)
            assert len(served_.connection.pipeline) <= PIECE // len(request_)
            assert served_.calls == 1
            served_.may_answer.set()
            assert (await served_.take_answers(MANY)).count(b"HTTP/1.1 200 ") == MANY

    play(test())


def test_while_requests_wait_unread_no_more_is_taken_whatever_uvicorn_says() -> None:
    async def test() -> None:
        async with served() as served_:
            served_.connection.data_received(2 * PIECE * GET)
            await until(lambda: served_.has_body)  # For uvicorn, the connection may read now.
            assert not served_.connection.transport.is_reading()
            served_.may_answer.set()
            await served_.take_answers(2 * PIECE)
            assert served_.connection.transport.is_reading()

    play(test())


def test_a_large_body_of_a_stated_length_is_read_whole_with_what_follows() -> None:
    body = b"[" * 500_000
    post = b"POST / HTTP/1.1\r\nHost:\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def test() -> None:
        async with served() as served_:
            served_.may_answer.set()
            served_.connection.data_received(post + GET)
            assert (await served_.take_answers(2)).count(b"HTTP/1.1 200 ") == 2

    play(test())


def test_a_client_that_takes_its_answer_steadily_keeps_its_connection() -> None:
    async def test() -> None:
        async with served(b"x" * LARGE) as served_:
            served_.may_answer.set()
            await served_.send(GET)
            now = served_.connection.loop.time()
            for number in range(1, 10):
                await served_.take(LARGE // 20)
                now += 0.9 * LONGEST_REQUEST_S
                served_.connection.close_if_late(now)
                assert not served_.connection.transport.is_closing(), number
            served_.connection.close_if_late(now + LONGEST_REQUEST_S + 1)
            assert served_.connection.transport.is_closing()

    play(test())


def test_a_connection_that_another_worker_has_answered_is_kept_as_long_as_one_of_its_own() -> None:
    async def test() -> None:
        async with served() as served_:
            passed = served_.connect()
            passed.take_over()
            client, server = socket.socketpair()
            with client:
                server.settimeout(0)
                await passed.loop.connect_accepted_socket(lambda: passed, server)
                now = passed.loop.time()
                passed.close_if_late(now + LONGEST_REQUEST_S + 1)
                assert not passed.transport.is_closing()
                passed.close_if_late(now + KEPT_FOR_S + 1)
                assert passed.transport.is_closing()

    play(test())


@pytest.mark.parametrize("what", [GET, HALF, GET + GET])
def test_what_a_worker_has_in_hand_is_the_requests_without_an_answer(what: bytes) -> None:
    async def test() -> None:
        async with served() as served_:
            assert served_.clients.in_hand == 0
            served_.connection.data_received(what)
            assert served_.clients.in_hand == (0 if what == HALF else WEIGHT_OF_A_REQUEST)
            served_.may_answer.set()
            if what == HALF:
                served_.connection.data_received(b"\r\n")
            await served_.take_answers(what.count(b"GET"))
            await until(lambda: served_.clients.in_hand == 0)

    play(test())


def test_a_call_that_a_thread_answers_weighs_more_and_one_that_listens_nothing() -> None:
    async def test() -> None:
        async with served() as served_:
            await served_.send(GET)
            served_.presence.occupy_thread(is_report=False)
            assert served_.clients.in_hand == WEIGHT_IN_A_THREAD
            served_.presence.occupy_thread(is_report=True)
            assert served_.clients.in_hand == WEIGHT_OF_A_REPORT
            served_.presence.listen()
            assert served_.clients.in_hand == 0
            served_.may_answer.set()
            await served_.take_answers(1)
            assert served_.clients.in_hand == 0

    play(test())


def test_nobody_is_at_one_answer_for_ever() -> None:
    async def test() -> None:
        async with served(b"x" * LARGE) as served_:
            served_.may_answer.set()
            await served_.send(GET)
            await served_.take(LARGE // 20)
            now = served_.connection.loop.time()
            served_.connection.close_if_late(now)
            await served_.take(LARGE // 20)
            served_.connection.close_if_late(now + LONGEST_ANSWER_S + 1)
            assert served_.connection.transport.is_closing()

    play(test())


def test_nothing_is_asked_on_a_connection_of_which_an_answer_said_that_it_is_closed() -> None:
    """A bet would be booked, and its answer lost."""

    async def test() -> None:
        async with served(b"x" * LARGE, {b"connection": b"close"}) as served_:
            await served_.send(GET)
            served_.connection.data_received(GET)
            served_.may_answer.set()
            await served_.take(1)
            for _ in range(10):
                await asyncio.sleep(0)
            served_.connection.data_received(GET)
            taken = await served_.take(2 * LARGE)
            assert b"HTTP/1.1 " not in taken
            assert served_.calls == 1

    play(test())
