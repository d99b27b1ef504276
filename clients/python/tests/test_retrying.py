"""A call that failed is sent again, the very same, after the wait that the service asks for."""

import contextlib
import threading
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from jackpot_client import Bet, JackpotClient, Retry
from tests.support.scripted import BET, BUSY, PLACED, Clock, MakeClient, Reply, Scripted, drop, place

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Reply(act=drop), id="dropped connection"),
        pytest.param(BUSY, id="503"),
        pytest.param(Reply(429, {}), id="429"),
        pytest.param(Reply(500, b"<h1>"), id="500"),
        pytest.param(Reply(502, b"<h1>"), id="502"),
        pytest.param(Reply(200, b"{}", {"Content-Encoding": "gzip"}), id="damaged answer"),
        pytest.param(Reply(200, b"{}", {"Content-Length": "9"}, lambda h: h.close_connection), id="cut answer"),
    ],
)
def test_after_a_failure_the_very_same_request_is_sent_again(
    client: JackpotClient, service: Scripted, clock: Clock, failure: Reply
) -> None:
    closing = Reply(failure.status, failure.content, {**failure.headers, "Connection": "close"}, failure.act)
    service.script = [closing, closing, PLACED]
    place(client, BET, Bet(player_id="p2", currency="JPY", stake_minor=500))
    first, second, third = service.received
    assert first.body == second.body == third.body
    assert (first.method, first.path) == (second.method, second.path) == (third.method, third.path)
    assert len(clock.slept) == 2


def test_after_a_timeout_the_very_same_request_is_sent_again(make_client: MakeClient, service: Scripted) -> None:
    over = threading.Event()
    service.script = [Reply(act=lambda handler: over.wait(10) and drop(handler)), PLACED]
    placed = place(make_client(timeout=1))
    over.set()
    assert placed.accepted == 1
    assert [request.body for request in service.received] == [service.received[0].body] * 2


def test_an_answer_that_trickles_is_cut_off_and_asked_for_again(
    make_client: MakeClient, service: Scripted, clock: Clock
) -> None:
    # So long that a client which is late to read it does not find all of it at once.
    body = PLACED.body.ljust(100_000)

    def trickle(handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        with contextlib.suppress(OSError):
            for at in range(0, len(body), 100):
                handler.wfile.write(body[at : at + 100])
                handler.wfile.flush()
                clock.now += 3 if at < 200 else 0
                time.sleep(0.02)
        return True

    service.script = [Reply(act=trickle), PLACED]
    assert place(make_client(timeout=5)).accepted == 1
    assert len(service.received) == 2


def test_a_refused_connection_is_tried_again(service: Scripted, clock: Clock) -> None:
    service.script = [PLACED]
    retries: list[Retry] = []

    class NobodyAtFirst(httpx.HTTPTransport):
        """The real transport, pointed at a port where nobody listens until a retry."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if not retries:
                request = httpx.Request(request.method, request.url.copy_with(port=1), headers=request.headers)
            return super().handle_request(request)

    with JackpotClient(
        service.url, "key", transport=NobodyAtFirst(), sleep=clock.sleep, clock=clock.read, on_retry=retries.append
    ) as client:
        assert place(client).accepted == 1
    (retry,) = retries
    assert (retry.request, retry.attempt) == ("POST /v1/tables/live-1/rounds/r1/bets", 2)
    assert "ConnectError" in retry.reason


@pytest.mark.parametrize("status", [503, 429])
def test_the_wait_the_service_asks_for_is_honoured(
    client: JackpotClient, service: Scripted, clock: Clock, status: int
) -> None:
    service.script = [Reply(status, {}, {"Retry-After": "7"}), PLACED]
    place(client)
    assert 7 <= clock.slept[0] <= 7.1


def test_the_wait_may_be_asked_for_as_a_date(client: JackpotClient, service: Scripted, clock: Clock) -> None:
    until = format_datetime(datetime.fromtimestamp(time.time() + 20, UTC), usegmt=True)
    service.script = [Reply(503, {}, {"Retry-After": until}), PLACED]
    place(client)
    assert 15 <= clock.slept[0] <= 20.1


def test_a_wait_that_is_nonsense_is_not_waited_for(client: JackpotClient, service: Scripted, clock: Clock) -> None:
    service.script = [Reply(503, {}, {"Retry-After": "soon"}), PLACED]
    place(client)
    assert 0 <= clock.slept[0] <= 0.1


def test_waits_grow_up_to_a_cap(make_client: MakeClient, service: Scripted, clock: Clock) -> None:
    service.script = [BUSY] * 12 + [PLACED]
    place(make_client(first_backoff=1, largest_backoff=4, deadline=100))
    caps = [1, 2] + [4] * 10
    assert all(0 <= slept <= cap for slept, cap in zip(clock.slept, caps, strict=True))
    assert len(set(clock.slept)) > 1
