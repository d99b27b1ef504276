"""What a client can make the server hold: bytes, time and connections, and no more of them than is said."""

import json
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import pytest

from jackpot_service.config.settings import Config
from jackpot_service.server.clients import MOST_CONNECTIONS
from jackpot_service.server.framing import LONGEST_HEAD, LONGEST_TARGET
from jackpot_service.server.protocol import LONGEST_REQUEST_S
from jackpot_service.server.worker import BODY_SLACK
from tests.faults.processes import all_workers, resident_bytes
from tests.faults.service import HOST, Service
from tests.faults.wire import LONGEST_WAIT_S, Answer, Wire, answer_to_bytes

pytestmark = pytest.mark.long

WHOLE = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST /v1/tables/T1/rounds/r1/bets HTTP/1.1\r\nHost: h\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
LARGEST_BODY = Config().max_body_bytes + BODY_SLACK
FLOOD = 8 * 1024 * 1024
"""Bytes: more than anything that is bounded may hold."""

MEGABYTE = 1024 * 1024


def flood(wire: Wire, piece: bytes) -> None:
    """Send as much as the server takes before it closes the connection."""
    with suppress(ConnectionError):
        for _ in range(FLOOD // len(piece)):
            wire.send(piece)


@pytest.mark.parametrize(
    ("start", "piece", "status"),
    [
        (b"GET /", b"a" * 65_536, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Long: ", b"a" * 65_536, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: h\r\n", b"X-Many: a\r\n" * 5_000, 431),
        (CHUNKED, b"1;" + b"a" * 65_536 + b"\r\na\r\n", 431),
        (CHUNKED, b"1\r\na\r\n" * 10_000, 431),
        (CHUNKED + b"0\r\nX-Trailer: ", b"a" * 65_536, 431),
        (CHUNKED + b"0\r\n", b"X-Trailer: a\r\n" * 5_000, 431),
        (CHUNKED, b"10000\r\n" + b"[" * 65_536 + b"\r\n", 413),
        (POST + b"Content-Length: 999999999\r\n\r\n", b"[" * 65_536, 413),
    ],
    ids=["line", "field", "fields", "extensions", "small chunks", "trailer", "trailers", "chunks", "length"],
)
def test_what_does_not_end_is_refused(standing_service: Service, start: bytes, piece: bytes, status: int) -> None:
    """A client without a key may have been answered before: then the connection is closed, and that is all."""
    with Wire(standing_service) as wire:
        wire.send(start)
        flood(wire, piece)
        with suppress(ConnectionError):
            answer = wire.answer()
            assert (answer.status, answer.headers.get("connection")) in {(status, "close"), (401, None)}
            wire.rest()
    assert standing_service.status_of("/healthz") == 200


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"GET /%b HTTP/1.1\r\nHost: h\r\n\r\n" % (b"a" * LONGEST_TARGET), 414, "uri-too-long"),
        (WHOLE[:-2] + b"X-Long: " + b"a" * LONGEST_HEAD + b"\r\n\r\n", 431, "head-too-large"),
        (WHOLE[:-2] + b"X-Many: a\r\n" * 100 + b"\r\n", 431, "head-too-large"),
        (POST + b"Content-Length: %d\r\n\r\n" % (LARGEST_BODY + 1), 413, "body-too-large"),
    ],
    ids=["line", "field", "fields", "length"],
)
def test_a_refusal_for_its_size_says_so(standing_service: Service, request_: bytes, status: int, code: str) -> None:
    with Wire(standing_service) as wire:
        answer = wire.send(request_).answer()
        answer.problem(status, code)
        assert answer.headers["connection"] == "close"
        assert answer.headers["x-request-id"]
        assert wire.rest() == b""


def test_a_path_and_a_head_that_are_too_long_are_problems_of_their_own(standing_service: Service) -> None:
    path = b"GET /%b HTTP/1.1\r\nHost: h\r\n\r\n" % (b"a" * LONGEST_TARGET)
    head = WHOLE[:-2] + b"X-Long: " + b"a" * LONGEST_HEAD + b"\r\n\r\n"

    answer_to_bytes(standing_service, path).problem(414, "uri-too-long")
    answer_to_bytes(standing_service, head).problem(431, "head-too-large")


def test_a_client_that_sends_all_of_a_large_body_before_it_reads_learns_why_it_is_refused(
    standing_service: Service,
) -> None:
    body = b"[" * (2 * LARGEST_BODY)
    with Wire(standing_service) as wire:
        answer = wire.send(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body).answer()
    assert (answer.status, answer.json()["code"]) == (413, "body-too-large")


def test_the_longest_head_is_taken(standing_service: Service) -> None:
    target = b"/healthz?" + b"a" * (LONGEST_TARGET - 100)
    field = b"X-Long: " + b"a" * (LONGEST_HEAD - LONGEST_TARGET - 100)
    assert (
        answer_to_bytes(standing_service, b"GET " + target + b" HTTP/1.1\r\nHost: h\r\n" + field + b"\r\n\r\n").status
        == 200
    )


@pytest.mark.long
def test_requests_that_do_not_come_whole_lose_their_connection(standing_service: Service, table_key: str) -> None:
    head = POST + b"Authorization: Bearer %b\r\nContent-Type: application/json\r\n" % table_key.encode()
    body = head + b"Content-Length: 99\r\n\r\n{"
    in_time = {"nothing": b"", "half a line": b"GET /hea", "half a head": head, "half a body": body}
    with ExitStack() as stack:
        wires = {name: stack.enter_context(Wire(standing_service)) for name in (*in_time, "half a head after another")}
        late = wires["half a head after another"]
        assert late.send(WHOLE).answer().status == 200
        for name, wire in wires.items():
            wire.send(in_time.get(name, head))
        for name, wire in wires.items():
            wire.socket.settimeout(LONGEST_REQUEST_S + LONGEST_WAIT_S)
            received = wire.rest()
            if name == "nothing":
                assert not received
            else:
                Answer.of(received).problem(408, "request-timeout")
    assert standing_service.status_of("/healthz") == 200


@contextmanager
def connections(service: Service, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, and send the same on each."""
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            client = stack.enter_context(socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S))
            client.sendall(sent)
            opened.append(client)
        yield opened


def closed(clients: Sequence[socket.socket]) -> set[int]:
    """The numbers of the connections that the server has closed."""
    poller = select.poll()
    numbers = {client.fileno(): number for number, client in enumerate(clients)}
    for descriptor in numbers:
        poller.register(descriptor, select.POLLRDHUP)
    return {numbers[descriptor] for descriptor, _ in poller.poll(0)}


@pytest.mark.parametrize("sent", [b"", b"GET /hea", POST + b"Content-Length: 9\r\n\r\n{"], ids=["idle", "head", "body"])
def test_connections_that_wait_shut_out_nobody(standing_service: Service, sent: bytes) -> None:
    with connections(standing_service, standing_service.workers * MOST_CONNECTIONS + 50, sent) as clients:
        for _ in range(20):
            assert standing_service.status_of("/healthz") == 200
        gone = closed(clients)
    assert len(gone) >= 50
    assert max(gone) < len(clients) + 20 - MOST_CONNECTIONS, "those that wait for longest go first"


@pytest.mark.long
def test_a_client_that_takes_nothing_of_its_answers_loses_its_connection(standing_service: Service) -> None:
    """Answers that nobody takes fill what there is to hold them; then the client has so long, and no longer."""
    request = b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n"  # The answer names the path.
    with Wire(standing_service) as wire:
        wire.socket.settimeout(2)
        with suppress(TimeoutError):
            for _ in range(10_000):
                wire.send(request)
        ended = select.poll()
        ended.register(wire.socket, select.POLLRDHUP)  # Or reset, if not all was read that was sent.
        assert ended.poll((LONGEST_REQUEST_S + LONGEST_WAIT_S) * 1000)
    assert standing_service.status_of("/healthz") == 200


def test_memory_stays_as_it_is_whatever_connections_come_and_large_bodies_are_refused(
    standing_service: Service,
) -> None:
    """5,000 connections, and 2,000 posts of 900 kB by nobody who may: then no worker has grown by what two of them
    hold."""
    body = b"[" * 900_000
    post = POST + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    workers = all_workers(standing_service)
    attack(standing_service, connected=500, posts=100, post=post)
    before = {pid: resident_bytes(pid) for pid in workers}
    attack(standing_service, connected=5_000, posts=2_000, post=post)
    assert all_workers(standing_service) == workers
    grown = {pid: (resident_bytes(pid) - before[pid]) // MEGABYTE for pid in workers}
    assert max(grown.values()) < 40, grown


def attack(service: Service, *, connected: int, posts: int, post: bytes) -> None:
    until = time.monotonic() + 4 * LONGEST_WAIT_S
    for _ in range(connected // 250):
        with connections(service, 250, WHOLE):
            assert time.monotonic() < until
    for _ in range(posts):
        answer = answer_to_bytes(service, post)
        assert (answer.status, json.loads(answer.body)["code"]) == (401, "unauthenticated")
        assert time.monotonic() < until
