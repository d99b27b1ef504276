"""Restarts under load: no call is lost that the server took, and clients know when a connection is closed."""

import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from jackpot_service.api.events import LONGEST_WAIT_S as LONGEST_WAIT_FOR_EVENTS_S
from jackpot_service.domain.principals import Role
from tests.faults.load import Ledger, load
from tests.faults.processes import LONGEST_WAIT_S, all_workers, serving, wait_until
from tests.faults.service import HOST, Service
from tests.faults.wire import Wire

pytestmark = pytest.mark.long

RESTARTS = 6
RELOADS = 3
CALLS_BETWEEN = 40
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


@dataclass
class Asking:
    """What came of calls that were each made on a connection of their own."""

    outcomes: Counter[str] = field(default_factory=Counter)

    def ask(self, service: Service) -> None:
        try:
            client = socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S)
        except OSError as error:  # Nobody listens: nothing was asked.
            self.outcomes[f"no connection: {error}"] += 1
            time.sleep(0.02)
            return
        with client:
            try:
                client.sendall(WHOLE)
                answer = client.recv(65_536)
            except OSError as error:
                self.outcomes[f"lost: {error}"] += 1
                return
        self.outcomes["answered" if answer.startswith(b"HTTP/1.1 200") else f"lost: {answer[:40]!r}"] += 1

    def lost(self) -> list[str]:
        return [outcome for outcome in self.outcomes if outcome.startswith("lost")]


@contextmanager
def asking(service: Service, threads: int = 4) -> Iterator[Asking]:
    """Make calls all the time, each on a connection of its own."""
    asking_, stop = Asking(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            asking_.ask(service)

    with ThreadPoolExecutor(threads) as pool:
        done = [pool.submit(work) for _ in range(threads)]
        try:
            yield asking_
        finally:
            stop.set()
    for call in done:
        call.result()


@contextmanager
def loaded(service: Service, key: str, *tables: str) -> Iterator[tuple[Ledger, Asking]]:
    """Keep table servers at work on connections that they keep, and others on connections that they do not."""
    with asking(service) as asking_, load(service.base_url, key, list(tables)) as ledger:
        yield ledger, asking_


@pytest.mark.long
def test_six_restarts_under_load_lose_no_call(own_service: Service, table_key: str) -> None:
    with loaded(own_service, table_key, "T1", "T2", "T3", "T4") as (ledger, asking_):
        for _ in range(RESTARTS):
            ledger.wait_for_more(CALLS_BETWEEN)
            own_service.stop()
            own_service.start()
        ledger.wait_for_more(CALLS_BETWEEN)
    assert set(ledger.retries) <= {"ConnectError", "ConnectTimeout"}, ledger.retries
    assert not asking_.lost(), asking_.outcomes


@pytest.mark.long
def test_a_reload_under_load_replaces_every_worker_and_loses_no_call(own_service: Service, table_key: str) -> None:
    assert own_service.process is not None
    with loaded(own_service, table_key, "T5", "T6", "T7", "T8") as (ledger, asking_):
        for _ in range(RELOADS):
            ledger.wait_for_more(CALLS_BETWEEN)
            before = all_workers(own_service)
            own_service.process.send_signal(signal.SIGHUP)
            wait_until(lambda: len(serving(own_service) - before) == own_service.workers)  # noqa: B023  here and now
        ledger.wait_for_more(CALLS_BETWEEN)
    assert not ledger.retries, ledger.retries
    assert asking_.outcomes.keys() == {"answered"}, asking_.outcomes


def test_a_reload_that_is_told_to_end_ends(own_service: Service) -> None:
    assert own_service.process is not None
    before = all_workers(own_service)
    own_service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: serving(own_service) != before)
    own_service.stop()


def test_clients_that_keep_their_connection_learn_that_it_is_closed(own_service: Service) -> None:
    assert own_service.process is not None
    with Wire(own_service) as wire:
        assert "connection" not in wire.send(WHOLE).answer().headers
        own_service.process.terminate()
        headers: dict[str, str] = {}
        while "connection" not in headers:
            headers = wire.send(WHOLE).answer().headers
        assert headers["connection"] == "close"
        assert wire.rest() == b""
    own_service.stop()


def test_who_waits_for_events_waits_no_longer_and_is_answered(
    own_service: Service, standing_keys: dict[Role, str]
) -> None:
    headers = {"Authorization": f"Bearer {standing_keys[Role.AUDITOR]}"}
    with (
        httpx.Client(base_url=own_service.base_url, headers=headers, trust_env=False, timeout=60) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        after = client.get("/v1/events", params={"after": "now"}).json()["next"]
        waiting = pool.submit(client.get, "/v1/events", params={"after": after, "wait": LONGEST_WAIT_FOR_EVENTS_S})
        began = time.monotonic()
        assert not wait([waiting], timeout=1).done
        own_service.stop()
        assert waiting.result().status_code == httpx.codes.OK
        assert time.monotonic() - began < LONGEST_WAIT_FOR_EVENTS_S
