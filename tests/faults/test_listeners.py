"""Thousands who listen at the real server: they take nothing from table servers, are bounded, and end in order."""

import asyncio
import resource
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import Final

import orjson
import psutil
import pytest

from jackpot_client import Bet
from jackpot_service.api.streams import LEAST_WAIT_S, LONGEST_WAIT_S
from jackpot_service.database import embedded
from jackpot_service.domain.principals import Role
from jackpot_service.server.clients import MOST_CONNECTIONS
from tests.faults.in_time import once_in_time
from tests.faults.load import client_for
from tests.faults.service import HOST, Service, served
from tests.faults.wire import Answer, Wire

pytestmark = pytest.mark.long

LISTENERS: Final = 1000
"""That the server has places for: one caller alone may hold them all."""

TOO_MANY: Final = 3000
"""More than twice as many as may listen."""

LONGEST_BET_S: Final = 1.0
"""How long a bet may take, however many come."""

ROUNDS: Final = count()
"""The rounds of the table server have numbers of their own."""

STORMS: Final = 5
AT_ONCE: Final = 200
LONGEST_S: Final = 60.0


@pytest.fixture(scope="module")
def crowded(standing_cluster: embedded.Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server of one worker with places for more listeners than it takes other connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * TOO_MANY + soft), hard))
    log = tmp_path_factory.mktemp("crowded") / "service.log"
    settings = {"JACKPOT_LISTENERS": str(LISTENERS)}
    with served(standing_cluster.service_url(), log, starts=False, settings=settings) as service:
        service.workers = 1
        service.start()
        yield service
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@dataclass
class Crowd:
    """Connections that asked for the feed: what each was answered, how many frames it had, and why it was refused."""

    statuses: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    refusals: dict[int, bytes] = field(default_factory=dict)
    ended: list[bool] = field(default_factory=list)


class _Listener(asyncio.Protocol):
    def __init__(self, crowd: Crowd, request: bytes, answered: "asyncio.Future[None]") -> None:
        self._crowd, self._request, self._answered = crowd, request, answered
        self._number = len(crowd.statuses)
        crowd.statuses.append(0)
        crowd.frames.append(0)
        crowd.ended.append(False)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if not self._crowd.statuses[self._number]:
            self._crowd.statuses[self._number] = int(data.split()[1])
        if self._crowd.statuses[self._number] != HTTPStatus.OK:
            self._crowd.refusals[self._number] = self._crowd.refusals.get(self._number, b"") + data
        self._crowd.frames[self._number] += data.count(b"data: ")
        self._done()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's
        self._crowd.ended[self._number] = True
        self._done()

    def _done(self) -> None:
        if not self._answered.done():
            self._answered.set_result(None)


async def waiting(service: Service, key: str, count: int) -> list[asyncio.Transport]:
    """Have so many wait for events, which do not come."""
    request = (f"GET /v1/events?after=now&wait=20 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\n\r\n").encode()
    loop, crowd, transports = asyncio.get_running_loop(), Crowd(), list[asyncio.Transport]()
    for _ in range(count):
        transport, _ = await loop.create_connection(
            partial(_Listener, crowd, request, loop.create_future()), HOST, service.port
        )
        transports.append(transport)
    return transports


async def gathered(service: Service, key: str, count: int) -> tuple[Crowd, list[asyncio.Transport]]:
    """Have so many ask for the feed, and wait until each is answered."""
    request = (
        f"GET /v1/jackpots/live/feed HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n"
        f"Authorization: Bearer {key}\r\n\r\n"
    ).encode()
    loop, crowd, transports = asyncio.get_running_loop(), Crowd(), list[asyncio.Transport]()
    for start in range(0, count, AT_ONCE):
        answered = [loop.create_future() for _ in range(min(AT_ONCE, count - start))]
        made = [
            loop.create_connection(partial(_Listener, crowd, request, is_answered), HOST, service.port)
            for is_answered in answered
        ]
        transports += [transport for transport, _ in await asyncio.gather(*made)]
        await asyncio.wait_for(asyncio.gather(*answered), LONGEST_S)
    return crowd, transports


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(LONGEST_S):
        while not condition():  # noqa: ASYNC110  nothing tells when
            await asyncio.sleep(0.05)


def bet(service: Service, table_key: str, round_id: str) -> None:
    with client_for(service.base_url, table_key) as client:
        client.place_bets(
            table_id="T1",
            round_id=round_id,
            bets=[Bet(bet_id="b", player_id="p", currency="EUR", stake_minor=100)],
        )


def bets_of_a_table_server(wire: Wire, key: str, is_over: threading.Event) -> list[tuple[int, float]]:
    """Bet on one connection, round after round, until it is over; returns each status, and how long it took."""
    content = orjson.dumps({"bets": [{"bet_id": "b", "player_id": "p", "currency": "EUR", "stake_minor": 100}]})
    booked: list[tuple[int, float]] = []
    while not is_over.is_set() or not booked:
        began = time.monotonic()
        request = (
            f"POST /v1/tables/T2/rounds/many-{next(ROUNDS)}/bets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        answer = wire.send(request.encode() + content).answer()
        booked.append((answer.status, time.monotonic() - began))
    return booked


def worker_of(service: Service) -> psutil.Process:
    assert service.process is not None
    (worker,) = (
        child
        for child in psutil.Process(service.process.pid).children()
        if any("spawn_main" in word for word in child.cmdline())
    )
    return worker


def test_listeners_beyond_their_places_are_refused_and_take_none_of_a_table_servers(
    crowded: Service, standing_keys: dict[Role, str]
) -> None:
    key, table_key = standing_keys[Role.AUDITOR], standing_keys[Role.TABLE]
    ask = f"GET /v1/jackpots/live/meter HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {table_key}\r\n\r\n".encode()

    async def play() -> None:
        crowd, transports = await gathered(crowded, key, TOO_MANY)
        assert crowd.statuses.count(200) == LISTENERS
        assert crowd.statuses.count(503) == TOO_MANY - LISTENERS
        listening = [number for number, status in enumerate(crowd.statuses) if status == 200]
        had = [crowd.frames[number] for number in listening]
        assert set(had) == {1}

        # A connection from before is as it was, and a new one bets.
        assert (await asyncio.to_thread(lambda: before.send(ask).answer())).status == 200
        await asyncio.to_thread(bet, crowded, table_key, "crowded")

        await until(lambda: all(crowd.frames[number] == 2 for number in listening))
        assert not any(crowd.ended[number] for number in listening)
        for transport in transports:
            transport.abort()

    with Wire(crowded) as before:
        assert before.send(ask).answer().status == 200
        asyncio.run(play())


def test_a_crowd_beyond_its_places_is_told_why_and_when_to_come_again_while_a_table_server_bets_as_ever(
    crowded: Service, standing_keys: dict[Role, str]
) -> None:
    once_in_time(lambda: longest_bet_beside_a_crowd_s(crowded, standing_keys), bound_s=LONGEST_BET_S)


def longest_bet_beside_a_crowd_s(crowded: Service, standing_keys: dict[Role, str]) -> float:
    is_over = threading.Event()

    async def crowd_together() -> Crowd:
        crowd, transports = await gathered(crowded, standing_keys[Role.AUDITOR], TOO_MANY)
        await until(lambda: sum(crowd.ended) >= TOO_MANY - LISTENERS)  # By the service: the others listen on.
        assert not any(has_ended for number, has_ended in enumerate(crowd.ended) if crowd.statuses[number] == 200)
        for transport in transports:
            transport.abort()
        return crowd

    with Wire(crowded) as table_server, ThreadPoolExecutor(1) as threads:
        bets = threads.submit(bets_of_a_table_server, table_server, standing_keys[Role.TABLE], is_over)
        try:
            crowd = asyncio.run(crowd_together())
        finally:
            is_over.set()
        booked = bets.result()

    refusals = [Answer.of(data) for data in crowd.refusals.values()]
    assert len(refusals) == TOO_MANY - LISTENERS
    for refusal in refusals:
        assert "places" in refusal.problem(503, "busy")["detail"]
        assert refusal.headers["connection"] == "close"
    after_s = {int(refusal.headers["retry-after"]) for refusal in refusals}
    assert after_s == {*range(LEAST_WAIT_S, LONGEST_WAIT_S + 1)}  # Nor do they come again all at once.

    assert {status for status, _ in booked} == {HTTPStatus.CREATED}
    return max(seconds for _, seconds in booked)


def test_more_wait_for_events_than_a_worker_takes_connections_and_table_servers_keep_theirs(
    crowded: Service, standing_keys: dict[Role, str]
) -> None:
    table_key = standing_keys[Role.TABLE]
    ask = f"GET /v1/jackpots/live/meter HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {table_key}\r\n\r\n".encode()

    async def play() -> None:
        transports = await waiting(crowded, standing_keys[Role.AUDITOR], MOST_CONNECTIONS + 50)
        assert (await asyncio.to_thread(lambda: before.send(ask).answer())).status == 200
        await asyncio.to_thread(bet, crowded, table_key, "while-they-wait")
        for transport in transports:
            transport.abort()

    with Wire(crowded) as before:
        assert before.send(ask).answer().status == 200
        asyncio.run(play())


def test_storms_of_listeners_that_come_and_go_leave_nothing_behind(
    crowded: Service, standing_keys: dict[Role, str]
) -> None:
    worker = worker_of(crowded)

    async def storm() -> None:
        crowd, transports = await gathered(crowded, standing_keys[Role.AUDITOR], LISTENERS // 2)
        assert set(crowd.statuses) == {200}
        for transport in transports:
            transport.abort()

    asyncio.run(storm())
    asyncio.run(until(lambda: len(worker.net_connections()) < AT_ONCE))
    files, memory = worker.num_fds(), worker.memory_info().rss
    for _ in range(STORMS):
        asyncio.run(storm())
    asyncio.run(until(lambda: worker.num_fds() <= files))
    assert worker.memory_info().rss < memory + 20 * 1024 * 1024


def test_a_server_that_is_stopped_ends_its_listeners_in_order(crowded: Service, standing_keys: dict[Role, str]) -> None:
    crowded.log.write_bytes(b"")

    async def play() -> None:
        crowd, _ = await gathered(crowded, standing_keys[Role.AUDITOR], AT_ONCE)
        await asyncio.to_thread(crowded.stop)
        await until(lambda: all(crowd.ended))
        assert set(crowd.statuses) == {200}

    asyncio.run(play())

    assert "refused to gracefully stop" not in crowded.log.read_text()
    assert "Traceback" not in crowded.log.read_text()
    crowded.start()
