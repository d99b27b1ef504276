"""The service behind nginx as docs/production/nginx.conf has it."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from jackpot_service.database import embedded
from jackpot_service.domain.principals import Role
from tests.faults.load import load
from tests.faults.processes import LONGEST_WAIT_S, wait_until
from tests.faults.proxy import MOST_CONNECTIONS, NAME, NGINX, Proxy, proxied, proxied_ports
from tests.faults.service import HOST, Service, served

pytestmark = [
    pytest.mark.long,
    pytest.mark.nginx,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed; Debian: apt-get install nginx-light"),
]

STALLED = 1_000
LONGEST_HALF_S = 10
"""For so long nginx waits for the rest of a head, or for the next piece of a body."""

SLACK_S = 15
"""By how much a busy machine may be late with that; without the configuration nginx would wait for 60 seconds."""

BETS = "/v1/tables/T1/rounds/r1/bets"
HEAD = b"POST /v1/tables/T1/rounds/r1/bets HTTP/1.1\r\nHost: jackpot.example\r\n"


@pytest.fixture(scope="module")
def proxy(standing_service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxied(standing_service, tmp_path_factory.mktemp("nginx")) as proxy:
        yield proxy


def client(proxy: Proxy, key: str = "none") -> httpx.Client:
    return httpx.Client(
        base_url=proxy.base_url,
        verify=proxy.trust,
        headers={"Authorization": f"Bearer {key}", "Host": NAME},
        trust_env=False,
        timeout=LONGEST_WAIT_S,
    )


def connected(proxy: Proxy, source: str = HOST) -> ssl.SSLSocket:
    plain = socket.create_connection((HOST, proxy.port), timeout=LONGEST_WAIT_S, source_address=(source, 0))
    return proxy.trust.wrap_socket(plain, server_hostname=NAME)


def bets(round_id: str) -> dict[str, Any]:
    return {"bets": [{"bet_id": round_id, "player_id": "p", "currency": "EUR", "stake_minor": 100, "hand": "1"}]}


class Named(BaseHTTPRequestHandler):
    """Answers every call with the port that it came to."""

    def do_GET(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.end_headers()
        self.wfile.write(str(self.connection.getsockname()[1]).encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def named() -> Iterator[int]:
    """The port of a server that names it."""
    with ThreadingHTTPServer((HOST, 0), Named) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


OF_PEOPLE = [
    "/",
    "/finance",
    "/finance/held?days=7",
    "/reports/rounds",
    "/sign-in",
    "/proof",
    "/jackpots/live",
    "/tables/T1/rounds/r1",
    "/v1/reports",
    "/v1/reports/liability",
    "/v1/jobs",
    "/v1/jobs/7/file",
    "/v1/reconciliations",
    "/v1/closed-periods",
    "/v1/verification-runs",
]
OF_TABLES = [
    "/v1/tables/T1/rounds/r1/bets",
    "/v1/tables",
    "/v1/jackpots/live/meter",
    "/v1/jackpots/live/feed",
    "/v1/events",
    "/v1/me",
    "/v1/rounds",
    "/v1/awards/aw_1/payment",
    "/v1/casinos",
    "/v1/reports-of-others",
    "/wall/live",
    "/assets/1/wall.js",
    "/readyz",
    "/healthz",
    "/metrics",
]


def test_pages_and_reports_go_to_people_and_all_else_to_tables(tmp_path: Path) -> None:
    with (
        named() as tables,
        named() as people,
        proxied_ports(tables, people, tmp_path) as proxy,
        client(proxy) as caller,
    ):
        went = {path: int(caller.get(path).text) for path in (*OF_PEOPLE, *OF_TABLES)}
    assert went == {**dict.fromkeys(OF_PEOPLE, people), **dict.fromkeys(OF_TABLES, tables)}


def test_a_round_goes_through_tls_and_keeps_its_request_ids(proxy: Proxy, standing_keys: dict[Role, str]) -> None:
    with client(proxy, standing_keys[Role.TABLE]) as table:
        booked = table.post(BETS, json=bets("b1"), headers={"X-Request-Id": "mine-1"})
        assert (booked.status_code, booked.headers["X-Request-Id"]) == (201, "mine-1")
        assert table.post(BETS, json=bets("b1")).status_code == 200
        assert len(table.get("/healthz").headers["X-Request-Id"]) == 32
        hands = [{"hand": "1", "cards": ["2c", "3d", "4h", "7s", "9c"]}]
        settled = table.put("/v1/tables/T1/rounds/r1/result", json={"bet_count": 1, "hands": hands})
        assert settled.status_code in {200, 201}, settled.text


def test_the_longest_cursor_goes_through(proxy: Proxy, standing_keys: dict[Role, str]) -> None:
    with client(proxy, standing_keys[Role.AUDITOR]) as auditor:
        answer = auditor.get("/v1/events", params={"after": "a" * 60_000})
        assert answer.json()["code"] not in {"uri-too-long", "bad-request"}
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_waiting_for_events_and_reports_as_csv_go_through(proxy: Proxy, standing_keys: dict[Role, str]) -> None:
    with client(proxy, standing_keys[Role.AUDITOR]) as auditor:
        after = auditor.get("/v1/events", params={"after": "now"}).json()["next"]
        assert auditor.get("/v1/events", params={"after": after, "wait": 2}).json()["items"] == []
        report = auditor.get("/v1/reports/rounds", params={"format": "csv", "section": "bets"})
        assert (report.status_code, report.headers["Content-Type"].partition(";")[0]) == (200, "text/csv")


def test_a_body_that_is_too_large_is_refused(proxy: Proxy, standing_keys: dict[Role, str]) -> None:
    with client(proxy, standing_keys[Role.TABLE]) as table:
        assert table.post(BETS, content=b"[" * 2_000_000).status_code == 413


@pytest.mark.long
@pytest.mark.parametrize("half", [HEAD, HEAD + b"Content-Length: 99\r\n\r\n{"], ids=["half a head", "half a body"])
def test_what_does_not_end_loses_its_connection(proxy: Proxy, half: bytes) -> None:
    with connected(proxy) as slow:
        slow.sendall(half)
        began, rest_of_answer = time.monotonic(), b""
        while piece := received(slow):
            rest_of_answer += piece
        took_s = time.monotonic() - began
    assert not rest_of_answer or rest_of_answer.startswith(b"HTTP/1.1 408 ")
    assert took_s < LONGEST_HALF_S + SLACK_S


def received(client: ssl.SSLSocket) -> bytes:
    """What comes next on a connection; nothing if it is over, however it ended."""
    try:
        return client.recv(65_536)
    except (ConnectionError, ssl.SSLError):
        return b""


def test_of_a_thousand_bodies_that_stall_none_reaches_the_service(
    proxy: Proxy, standing_service: Service, standing_keys: dict[Role, str]
) -> None:
    """They come from many addresses, for one is given so many connections only."""
    key = standing_keys[Role.TABLE].encode()
    head = HEAD + b"Authorization: Bearer " + key + b"\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    with ExitStack() as stack, client(proxy, standing_keys[Role.TABLE]) as table:
        for number in range(STALLED):
            stack.enter_context(connected(proxy, f"127.0.1.{number // MOST_CONNECTIONS + 1}")).sendall(head)
        began = time.monotonic()
        assert table.post(BETS.replace("/r1/", "/r2/"), json=bets("b1")).status_code == 201
        assert connections_to(standing_service) <= 4, "nginx keeps what it has not whole to itself"
        assert table.get("/readyz").status_code == 200
        assert time.monotonic() - began < LONGEST_WAIT_S


def connections_to(service: Service) -> int:
    """How many connections the service has."""
    with Path("/proc/net/tcp").open(encoding="ascii") as table:
        lines = [line.split() for line in table]
    return sum(line[1].endswith(f":{service.port:04X}") and line[3] == "01" for line in lines)


def test_an_address_is_given_so_many_connections(proxy: Proxy) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS):
            held = stack.enter_context(connected(proxy, "127.0.2.1"))
            held.sendall(HEAD + b"Content-Length: 99\r\n\r\n{")
        one_more = stack.enter_context(connected(proxy, "127.0.2.1"))
        status = b""
        while status != b"429":  # As soon as nginx has read the heads of the others.
            one_more.sendall(b"GET /healthz HTTP/1.1\r\nHost: jackpot.example\r\n\r\n")
            status = received(one_more)[9:12]
            assert status
        with connected(proxy, "127.0.2.2") as other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: jackpot.example\r\n\r\n")
            assert received(other).startswith(b"HTTP/1.1 200 ")


def test_the_service_restarts_behind_it_and_no_bet_is_lost(
    proxy: Proxy, standing_service: Service, standing_keys: dict[Role, str]
) -> None:
    transport = httpx.HTTPTransport(verify=proxy.trust)
    with load(proxy.base_url, standing_keys[Role.TABLE], ["T2", "T3"], transport=transport) as ledger:
        ledger.wait_for_more(20)
        standing_service.stop()
        standing_service.start()
        ledger.wait_for_more(20)
    assert ledger.retries.keys() <= {"status 502", "status 504", "ReadTimeout"}, ledger.retries
    with client(proxy) as anybody:
        assert anybody.get("/readyz").status_code == 200


@pytest.mark.parametrize(("trusted", "named"), [({"JACKPOT_TRUSTED_PROXIES": HOST}, "127.0.3.1"), ({}, HOST)])
def test_a_caller_has_an_address_of_its_own_only_if_the_proxy_is_trusted(
    standing_cluster: embedded.Cluster, tmp_path_factory: pytest.TempPathFactory, trusted: dict[str, str], named: str
) -> None:
    place = tmp_path_factory.mktemp("trust")
    with (
        served(standing_cluster.service_url(), place / "service.log", settings=trusted) as service,
        proxied(service, place) as proxy,
    ):
        with connected(proxy, "127.0.3.1") as caller:
            caller.sendall(b"GET /v1/keys HTTP/1.1\r\nHost: jackpot.example\r\nAuthorization: Bearer jk_none\r\n\r\n")
            assert received(caller).startswith(b"HTTP/1.1 401 ")
        wait_until(lambda: "sign-in-refused" in service.log.read_text())
        (line,) = [line for line in service.log.read_text().splitlines() if "sign-in-refused" in line]
    assert orjson.loads(line)["address"] == named
