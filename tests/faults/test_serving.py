"""The server itself: how it ends, what it starts again, and what it takes before a request has a name."""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.worker import LONGEST_REQUEST_S, MOST_CONNECTIONS
from tests.faults.service import HOST, Service
from tests.support.house import House

LONGEST_WAIT_S = 30
LONGEST_END_S = 9
"""A second less than a worker is given for the calls in progress."""

LONGEST_HEAD = 1024 * 1024
"""Bytes before a body: more than any client sends."""

BETS = "/v1/tables/T1/rounds/r1/bets"


def supervisor(service: Service) -> int:
    """The process that the command started to look after those that serve."""
    assert service.process is not None
    (found,) = (pid for pid in children(service.process.pid) if b"jackpot_service.server" in command_of(pid))
    return found


def workers(service: Service) -> set[int]:
    """The processes that the supervisor started to serve."""
    return children(supervisor(service))


def all_workers(service: Service) -> set[int]:
    """Those that serve, once there are as many as there are to be: the first may answer before the next is started."""
    wait_until(lambda: len(workers(service)) == service.workers)
    return workers(service)


def children(parent: int) -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and parent_of(path) == parent}


def parent_of(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # It has ended meanwhile.
        return 0


def takes_sigterm(pid: int) -> bool:
    """Whether a process has a way of its own to end."""
    try:
        (caught,) = re.findall(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:  # It has ended meanwhile.
        return False
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""


def wait_until(it_is_so: Callable[[], object], within_s: float = LONGEST_WAIT_S) -> None:
    until = time.monotonic() + within_s
    while not it_is_so():
        assert time.monotonic() < until, "it did not come to pass in time"
        time.sleep(0.001)


def test_connections_that_are_kept_for_later_do_not_hold_up_the_end(service: Service) -> None:
    with httpx.Client(base_url=service.base_url, trust_env=False) as client:
        assert client.get("/healthz").status_code == httpx.codes.OK
        began = time.monotonic()
        service.stop()
        assert time.monotonic() - began < LONGEST_END_S


def test_a_connection_that_comes_when_a_worker_ends_does_not_hold_it_up(service: Service) -> None:
    assert service.process is not None
    wait_until(lambda: all(map(takes_sigterm, all_workers(service))))
    service.process.terminate()
    time.sleep(0.2)
    with suppress(ConnectionError), connected(service):
        assert service.process.wait(LONGEST_END_S) == 0
    assert service.process.wait(LONGEST_END_S) == 0
    assert service.log.read_text().count("Worker exiting") == service.workers
    service.process = None


def test_a_worker_that_is_told_to_end_while_it_starts_ends(service: Service) -> None:
    of = supervisor(service)
    before = all_workers(service)
    os.kill(min(before), signal.SIGKILL)
    for later_ms in range(0, 60, 3):
        wait_until(lambda: children(of) - before)
        (starting,) = children(of) - before
        before.add(starting)
        time.sleep(later_ms / 1000)
        os.kill(starting, signal.SIGTERM)
        wait_until(lambda: starting not in children(of), LONGEST_END_S)  # noqa: B023  it is asked here and now


def test_a_worker_that_was_killed_is_started_again(service: Service) -> None:
    before = all_workers(service)
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: len(workers(service) - before) == 1)
    assert killed not in workers(service)


@pytest.mark.parametrize("killed", ["the command", "its supervisor"])
def test_workers_end_when_whoever_started_them_is_gone(service: Service, killed: str) -> None:
    assert service.process is not None
    pids = all_workers(service)
    with connected(service):
        os.kill(service.process.pid if killed == "the command" else supervisor(service), signal.SIGKILL)
        assert service.process.wait() != 0
        wait_until(lambda: not any(map(command_of, pids)), LONGEST_END_S)
    service.process = None


def test_ctrl_c_ends_all_in_order(service: Service) -> None:
    """It reaches every process of the terminal at once; the command says to the others what they are to do."""
    assert service.process is not None
    with httpx.Client(base_url=service.base_url, trust_env=False) as client:
        assert client.get("/healthz").status_code == httpx.codes.OK
        os.killpg(service.process.pid, signal.SIGINT)
        assert service.process.wait(LONGEST_END_S) == 0
    assert b"Traceback" not in service.log.read_bytes()
    service.process = None


def test_a_server_that_cannot_start_says_so_and_ends(service: Service) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", "serve", "--port", str(service.port)],
        env={**os.environ, "JACKPOT_DATABASE_URL": service.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, refused.stderr) == (1, f"Error: something already listens on {HOST}:{service.port}\n")


def test_workers_that_cannot_listen_are_not_started_again_and_again(service: Service) -> None:
    with socket.create_server((HOST, 0)) as other:
        arguments = (HOST, str(other.getsockname()[1]), "2", str(os.getpid()))
        refused = subprocess.run(
            [sys.executable, "-m", "jackpot_service.server", *arguments],
            env={**os.environ, "JACKPOT_DATABASE_URL": service.url},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_WAIT_S,
        )
    assert refused.returncode != 0
    assert "in use" in refused.stderr


@pytest.mark.parametrize("head", [b"X-Long: ", b"GET /"])
def test_a_head_that_does_not_end_is_refused(service: Service, head: bytes) -> None:
    start = b"" if head.startswith(b"GET") else b"GET /healthz HTTP/1.1\r\nHost: here\r\n"
    with socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S) as client:
        client.sendall(start + head)
        try:
            for _ in range(2 * LONGEST_HEAD // 65_536):
                client.sendall(b"a" * 65_536)
            answer = client.recv(65_536)
        except ConnectionError:
            answer = b""
    assert not answer or answer.startswith((b"HTTP/1.1 414 ", b"HTTP/1.1 431 "))
    assert service.asked("/healthz") == httpx.codes.OK


def test_what_is_no_http_is_refused(service: Service) -> None:
    for sent in (b"\x00\x01\x02\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nA\r\n\r\n"):
        with socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S) as client:
            client.sendall(sent)
            assert client.recv(65_536).startswith(b"HTTP/1.1 400 ")
    assert service.asked("/healthz") == httpx.codes.OK


def test_requests_that_do_not_come_whole_lose_their_connection(service: Service) -> None:
    house = House(service.url)
    head = f"POST {BETS} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {house.key(Role.TABLE)}\r\n"
    house.engine.dispose()
    body = f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(service)) for _ in range(5)]
        clients[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        assert clients[-1].recv(65_536).startswith(b"HTTP/1.1 200 ")
        for client, sent in zip(clients, ("", "GET /hea", head, body, head), strict=True):
            client.sendall(sent.encode())
        assert not any_closed(clients, within_s=1)
        assert service.asked("/healthz") == httpx.codes.OK
        for client in clients:
            while client.recv(65_536):  # It may be told why, before the end.
                pass


def connected(service: Service) -> socket.socket:
    return socket.create_connection((HOST, service.port), timeout=LONGEST_REQUEST_S + LONGEST_WAIT_S)


def any_closed(clients: Sequence[socket.socket], *, within_s: float) -> bool:
    poller = select.poll()
    for client in clients:
        poller.register(client, select.POLLIN)
    return bool(poller.poll(within_s * 1000))


def test_connections_beyond_those_that_a_worker_takes_are_closed_and_it_serves_on(service: Service) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(service)) for _ in range(service.workers * MOST_CONNECTIONS + 1)]
        assert any_closed(clients, within_s=LONGEST_REQUEST_S / 2)
    assert service.asked("/healthz") == httpx.codes.OK


def test_a_request_that_names_the_whole_address_is_one_for_its_path(service: Service) -> None:
    with connected(service) as client:
        client.sendall(b"GET http://here:80/healthz HTTP/1.1\r\nHost: here:80\r\n\r\n")
        assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_large_requests_that_come_right_after_an_answer_are_answered(service: Service) -> None:
    house = House(service.url)
    body = b"[" * 200_000
    head = f"POST {BETS} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {house.key(Role.TABLE)}\r\n"
    request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    house.engine.dispose()
    with connected(service) as client:
        for _ in range(500):
            client.sendall(request)
            assert client.recv(65_536).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_takes_nothing_of_an_answer_loses_its_connection(service: Service) -> None:
    """Answers that nobody takes fill what there is to hold them; then the client has so long, and no longer."""
    request = b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n"  # The answer names the path.
    with connected(service) as client:
        client.settimeout(LONGEST_WAIT_S)
        until = time.monotonic()
        while time.monotonic() < until + 2:  # Then the last one has not been read for so long, and never will be.
            if is_read(client):  # Two side by side would be more than gunicorn takes at once.
                client.sendall(request)
                until = time.monotonic()
        ended = select.poll()
        ended.register(client, select.POLLHUP)
        assert not ended.poll(LONGEST_REQUEST_S * 500)
        assert ended.poll((LONGEST_REQUEST_S + LONGEST_WAIT_S) * 1000)
    assert service.asked("/healthz") == httpx.codes.OK


def is_read(client: socket.socket) -> bool:
    """Whether the server has read all that a client has sent: nothing is on its way, nor waits with the kernel."""
    (here, there) = (f":{end[1]:04X}" for end in (client.getsockname(), client.getpeername()))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    waiting = {(line[1][-5:], line[2][-5:]): line[4].split(":") for line in lines}
    return int(waiting[here, there][0], 16) == 0 == int(waiting[there, here][1], 16)


def test_what_libraries_do_when_it_is_asked_whether_it_is_ready_is_no_line_of_the_log(service: Service) -> None:
    assert service.asked("/readyz") == httpx.codes.OK
    logged = service.log.read_text()
    assert "Listening at" in logged
    assert "Context impl" not in logged


def test_a_call_for_another_protocol_is_refused(service: Service) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    answer = httpx.get(f"{service.base_url}/healthz", headers={**upgrade, **key}, trust_env=False)
    assert answer.status_code == httpx.codes.FORBIDDEN

    h2c = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQAAP__"}
    answer = httpx.post(f"{service.base_url}{BETS}", headers=h2c, json={"bets": []}, trust_env=False)
    assert answer.status_code == httpx.codes.UNAUTHORIZED
