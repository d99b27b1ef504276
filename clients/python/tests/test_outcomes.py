"""At the deadline: whether anything can have been booked, by what became of real connections."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from jackpot_client import JackpotClient, NoAnswer, NotSent, OutcomeUnknown, Refusal
from tests.support.scripted import BUSY, PLACED, ROUND, TABLE, Clock, MakeClient, Reply, Scripted, place, problem

pytestmark = pytest.mark.slow

LONGEST_S = 10.0


@contextmanager
def listener(serve: Callable[[socket.socket], None] | None) -> Iterator[str]:
    """Listen on a port, and let each connection be served; without a way to serve it nobody takes it."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:

        def take() -> None:
            with suppress(OSError):
                while serve is not None:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        serve(connection)

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join(LONGEST_S)


def test_where_nobody_listens_nothing_was_sent(make_client: MakeClient) -> None:
    with pytest.raises(NotSent, match=r"ConnectError.*nothing can have been booked") as raised:
        place(make_client("http://127.0.0.1:1"))
    assert raised.value.attempts > 5


def test_a_handshake_of_tls_that_fails_sent_nothing(make_client: MakeClient) -> None:
    with listener(lambda connection: connection.sendall(b"no TLS here")) as url, pytest.raises(NotSent):
        place(make_client(url.replace("http://", "https://")))


def test_a_certificate_that_is_not_trusted_sent_nothing(make_client: MakeClient) -> None:
    with listener(lambda connection: connection.close()) as url, pytest.raises(NotSent, match="Connect"):
        place(make_client(url.replace("http://", "https://"), tls=ssl.create_default_context()))


def test_a_connection_that_breaks_before_anything_is_read_leaves_the_outcome_open(make_client: MakeClient) -> None:
    with listener(lambda connection: connection.close()) as url, pytest.raises(OutcomeUnknown):
        place(make_client(url))


def test_a_connection_that_breaks_after_the_request_leaves_the_outcome_open(make_client: MakeClient) -> None:
    def read_and_leave(connection: socket.socket) -> None:
        connection.recv(65536)

    with listener(read_and_leave) as url, pytest.raises(OutcomeUnknown, match="bet_ids=b1"):
        place(make_client(url))


def test_a_service_that_says_nothing_leaves_the_outcome_open(make_client: MakeClient, clock: Clock) -> None:
    over = threading.Event()

    def say_nothing(_: socket.socket) -> None:
        clock.sleep(61)
        over.wait(LONGEST_S)

    with listener(say_nothing) as url:
        with pytest.raises(OutcomeUnknown, match="ReadTimeout"):
            place(make_client(url, timeout=1))
        over.set()


def test_where_no_connection_is_free_nothing_was_sent(service: Scripted) -> None:
    """One call keeps the only connection; another waits for it in vain."""
    is_asked, over = threading.Event(), threading.Event()

    def hold(_: BaseHTTPRequestHandler) -> None:
        is_asked.set()
        over.wait(LONGEST_S)

    service.script = [Reply(201, PLACED.content, act=hold)]
    shared = httpx.HTTPTransport(limits=httpx.Limits(max_connections=1))
    patient = JackpotClient(service.url, "key", transport=shared, timeout=LONGEST_S)
    hasty = JackpotClient(service.url, "key", transport=shared, timeout=0.1, deadline=0.3)
    with patient, hasty:
        first = threading.Thread(target=place, args=(patient,), daemon=True)
        first.start()
        assert is_asked.wait(LONGEST_S)
        with pytest.raises(NotSent, match="PoolTimeout"):
            place(hasty)
        over.set()
        first.join(LONGEST_S)
    assert len(service.received) == 1


@pytest.mark.parametrize(
    "turned_away",
    [
        pytest.param(Reply(429, {}), id="429"),
        pytest.param(problem(503, "busy", retryable=True), id="busy"),
        pytest.param(problem(503, "clock-skew", retryable=True), id="clock"),
        pytest.param(problem(408, "request-timeout", retryable=True), id="late"),
    ],
)
def test_a_service_that_turned_each_attempt_away_booked_nothing(
    client: JackpotClient, service: Scripted, turned_away: Reply
) -> None:
    service.script = [turned_away]
    with pytest.raises(NotSent, match="nothing can have been booked"):
        place(client)
    assert len(service.received) > 5


@pytest.mark.parametrize(
    "open_", [BUSY, Reply(500, b""), problem(503, "outcome-unknown", retryable=True), problem(500, "internal-error")]
)
def test_one_attempt_with_an_open_outcome_is_enough(client: JackpotClient, service: Scripted, open_: Reply) -> None:
    service.script = [Reply(429, {}), open_, Reply(429, {})]
    with pytest.raises(OutcomeUnknown):
        place(client)


def test_the_last_problem_says_why_there_was_no_answer(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(503, "busy", retryable=True, retry_after=7)]
    with pytest.raises(NotSent, match="503 busy: It is so") as raised:
        place(client)
    assert raised.value.problem is not None
    assert (raised.value.problem.code, raised.value.problem.retry_after) == ("busy", 7.0)


def test_a_call_that_only_reads_has_nothing_to_repeat(client: JackpotClient, service: Scripted) -> None:
    service.script = [BUSY]
    with pytest.raises(NoAnswer) as raised:
        client.me()
    assert type(raised.value) is NoAnswer


def test_a_question_that_asks_too_much_is_not_asked_again(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(503, "history-took-too-long", retryable=True, retry_after=1)]
    with pytest.raises(Refusal, match="history-took-too-long"):
        list(client.rounds(ended=True))
    assert len(service.received) == 1


def test_a_payment_without_an_answer_names_its_request(client: JackpotClient, service: Scripted) -> None:
    service.script = [BUSY]
    with pytest.raises(OutcomeUnknown, match=r"award_id=a1, request_id=q1$") as raised:
        client.pay_award(award_id="a1", request_id="q1", reference="cage 7")
    assert (raised.value.award_id, raised.value.request_id, raised.value.round_id) == ("a1", "q1", None)


def test_a_result_without_an_answer_names_its_round(client: JackpotClient, service: Scripted) -> None:
    service.script = [BUSY]
    with pytest.raises(OutcomeUnknown, match=r"table_id=live-1, round_id=r1$"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=0, hands=[])
