"""The server itself: how it ends, what it starts again, and what it takes before a request has a name."""

import os
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.faults.service import HOST, Service

LONGEST_WAIT_S = 30
LONGEST_END_S = 9
"""A second less than a worker is given for the calls in progress."""

LONGEST_HEAD = 1024 * 1024
"""Bytes before a body: more than any client sends."""


def workers(service: Service) -> set[int]:
    """The processes that the server started to serve."""
    assert service.process is not None
    server = service.process.pid
    group = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and is_in_group(path, service)}
    return {pid for pid in group - {server} if command_of(pid) == command_of(server)}


def command_of(pid: int) -> bytes:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""


def is_in_group(path: Path, service: Service) -> bool:
    assert service.process is not None
    try:
        return os.getpgid(int(path.name)) == service.process.pid
    except ProcessLookupError:
        return False


def test_connections_that_are_kept_for_later_do_not_hold_up_the_end(service: Service) -> None:
    with httpx.Client(base_url=service.base_url, trust_env=False) as client:
        assert client.get("/healthz").status_code == httpx.codes.OK
        began = time.monotonic()
        service.stop()
        assert time.monotonic() - began < LONGEST_END_S


def test_a_worker_that_was_killed_is_started_again(service: Service) -> None:
    before = workers(service)
    assert len(before) == service.workers
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    until = time.monotonic() + LONGEST_WAIT_S
    while len(workers(service) - {killed}) < service.workers:
        assert time.monotonic() < until, "nobody took its place"
        time.sleep(0.05)
    assert killed not in workers(service)


def test_a_worker_ends_when_whoever_started_it_is_gone(service: Service) -> None:
    assert service.process is not None
    os.kill(service.process.pid, signal.SIGKILL)
    service.process.wait()
    until = time.monotonic() + LONGEST_WAIT_S
    while service.asked("/healthz"):
        assert time.monotonic() < until, "a worker serves on that nobody would end"
        time.sleep(0.05)
    service.process = None


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
