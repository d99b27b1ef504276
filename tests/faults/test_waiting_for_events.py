"""Waiting for events at the real server: a late commit is told to those who wait, and nobody is kept from betting."""

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from typing import Any

import httpx
import pytest
import sqlalchemy

from jackpot_client import Bet, Hand
from jackpot_service.api.events import LONGEST_WAIT_S
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.outcomes import Cancellation
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from tests.faults.load import client_for
from tests.faults.proxy import NAME, NGINX, proxied
from tests.faults.service import HOST, Service, served
from tests.faults.wire import Wire
from tests.races import scene
from tests.races.processes import CONFIG

pytestmark = pytest.mark.long

TABLES = 40
"""More wait at a time than a worker has threads, or connections to the database."""

FEW_PLACES = 8

BET = Bet(bet_id="b", player_id="p", currency="EUR", stake_minor=100)
HAND = Hand(hand="1", cards=tuple(scene.NOTHING.split()))

Ask = Callable[..., httpx.Response]


@pytest.fixture
def engine(standing_cluster: embedded.Cluster) -> Iterator[sqlalchemy.Engine]:
    """Give the test an engine of its own on the module's PostgreSQL."""
    engine = create_engine(CONFIG, standing_cluster.service_url())
    yield engine
    engine.dispose()


@pytest.fixture
def ask(own_service: Service, standing_keys: dict[Role, str]) -> Ask:
    def ask(**query: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {standing_keys[Role.AUDITOR]}"}
        return httpx.get(
            f"{own_service.base_url}/v1/events", params=query, headers=headers, timeout=60, trust_env=False
        )

    return ask


def test_a_commit_that_comes_late_is_told_to_whoever_waits(engine: sqlalchemy.Engine, ask: Ask) -> None:
    start = ask(after="now").json()["next"]
    is_booked, may_commit = threading.Event(), threading.Event()

    def cancel_and_hold(session: Session) -> None:
        command = CancelRound(scene.SERVER, "T1", "late", Cancellation("misdeal"), scene.now())
        cancel_round(session, command)
        is_booked.set()
        may_commit.wait(30)

    with ThreadPoolExecutor(2) as pool:
        late = pool.submit(transact, engine, cancel_and_hold)
        assert is_booked.wait(30)
        waiting = pool.submit(ask, after=start, wait=20)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=1)
        may_commit.set()
        late.result()
        answered = waiting.result().json()

    assert [event["subject"] for event in answered["items"]] == ["round T1/late"]
    assert ask(after=answered["next"]).json()["items"] == []


def test_forty_tables_wait_and_keep_nobody_from_betting(own_service: Service, table_key: str, ask: Ask) -> None:
    start = ask(after="now").json()["next"]

    with ThreadPoolExecutor(TABLES) as pool:
        waiting = [pool.submit(ask, after=start, wait=20) for _ in range(TABLES)]
        wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
        with client_for(own_service.base_url, table_key) as client:
            for number in range(20):
                client.place_bets(table_id="T1", round_id=f"r{number}", bets=[BET])
            client.put_result(table_id="T1", round_id="r0", bet_count=1, hands=[HAND])
        answers = [call.result() for call in waiting]

    shown = [answer.json()["items"] for answer in answers]
    assert {tuple(event["subject"] for event in items) for items in shown} == {("round T1/r0",)}


def test_a_server_that_is_stopped_does_not_wait_for_those_who_wait(own_service: Service, ask: Ask) -> None:
    start = ask(after="now").json()["next"]

    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, after=start, wait=20) for _ in range(FEW_PLACES)]
        wait(waiting, timeout=1)
        own_service.stop()

    assert "Shutting down" in own_service.log.read_text()
    assert "refused to gracefully stop" not in own_service.log.read_text()
    assert all(isinstance(call.exception(), httpx.TransportError | type(None)) for call in waiting)


@pytest.fixture(scope="module")
def service_of_one(standing_cluster: embedded.Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Give the tests a server of one worker with few places, so that they know how many there are."""
    log = tmp_path_factory.mktemp("one") / "service.log"
    settings = {"JACKPOT_LISTENERS": str(FEW_PLACES)}
    with served(standing_cluster.service_url(), log, starts=False, settings=settings) as service:
        service.workers = 1
        service.start()
        yield service


def events_after(start: str, key: str, *, wait_s: int = LONGEST_WAIT_S) -> bytes:
    head = f"GET /v1/events?after={start}&wait={wait_s} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\n\r\n"
    return head.encode()


def now(service: Service, key: str) -> str:
    with Wire(service) as wire:
        next_: str = wire.send(events_after("now", key, wait_s=0)).answer().json()["next"]
        return next_


def is_refused(service: Service, start: str, key: str) -> bool:
    """Whether there is no place to wait, for a second."""
    with Wire(service) as wire:
        answer = wire.send(events_after(start, key, wait_s=1)).answer()
    return answer.status == httpx.codes.SERVICE_UNAVAILABLE


def closed(client: socket.socket) -> None:
    client.close()


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def require_places_of_those_who_leave(
    service: Service, key: str, connect: Callable[[], socket.socket], leave: Callable[[socket.socket], None]
) -> None:
    """Have all places taken by connections, and then by others as soon as those are gone."""
    start = now(service, key)
    until = time.monotonic() + LONGEST_WAIT_S  # No place becomes free before, unless somebody leaves.
    with ExitStack() as held:
        clients: list[socket.socket] = []
        while len(clients) < FEW_PLACES or not is_refused(service, start, key):
            assert time.monotonic() < until
            clients.append(held.enter_context(connect()))
            clients[-1].sendall(events_after(start, key))
            # It gets a place meanwhile, or is refused because the one who asks above has it: then another tries.
            select.select(clients[-1:], [], [], 0.2)
        for client in clients:
            leave(client)
    while is_refused(service, start, key):
        assert time.monotonic() < until


@pytest.mark.parametrize("leave", [closed, reset])
def test_those_who_leave_give_their_places_to_others(
    service_of_one: Service, standing_keys: dict[Role, str], leave: Callable[[socket.socket], None]
) -> None:
    connect = partial(socket.create_connection, (HOST, service_of_one.port))
    require_places_of_those_who_leave(service_of_one, standing_keys[Role.AUDITOR], connect, leave)


@pytest.mark.nginx
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed; Debian: apt-get install nginx-light")
def test_those_who_leave_nginx_give_their_places_to_others(
    service_of_one: Service, standing_keys: dict[Role, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with proxied(service_of_one, tmp_path_factory.mktemp("nginx")) as proxy:

        def connect() -> socket.socket:
            plain = socket.create_connection((HOST, proxy.port))
            return proxy.trust.wrap_socket(plain, server_hostname=NAME)

        require_places_of_those_who_leave(service_of_one, standing_keys[Role.AUDITOR], connect, closed)


def test_one_who_waits_and_says_that_no_more_comes_is_answered_at_once(
    service_of_one: Service, standing_keys: dict[Role, str]
) -> None:
    key = standing_keys[Role.AUDITOR]
    start = now(service_of_one, key)
    until = time.monotonic() + LONGEST_WAIT_S

    with Wire(service_of_one) as wire:
        answer = wire.send(events_after(start, key)).say_no_more().answer()

    assert (answer.status, answer.json()["items"]) == (200, [])
    assert time.monotonic() < until
