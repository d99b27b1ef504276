"""Callers side by side at the real server: whatever one casino, or one key, does, the others are served."""

import asyncio
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count

import httpx
import orjson
import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.keys import create_key
from tests.faults.processes import wait_until
from tests.faults.service import HOST, Service
from tests.races import scene

pytestmark = pytest.mark.long

FLOODED, OTHER = "T1", "T2"
"""A table of casino c1, from which the floods come, and one of c2; both play for one jackpot."""

BATCHES, BETS_OF_A_BATCH = 8, 2000
"""So many that a report of all of them takes a while."""

REPORT = "/v1/reports/rounds?format=csv&section=bets"

LONGEST_WAIT_S = 60


@dataclass(frozen=True, slots=True)
class Keys:
    """Of a table server of either casino, of finance of c1 and of the house, and of an auditor."""

    flood: str
    other: str
    finance_of_casino: str
    finance: str
    auditor: str


@pytest.fixture
def keys(engine: sqlalchemy.Engine) -> Keys:
    """Set two casinos up, each with a table, and give the test the keys of all."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=[FLOODED], base_amount="1000", stripes=16)
    act = Act(SYSTEM_OPERATOR, scene.now())
    transact(engine, partial(add_casino, act=act, casino_id="c2", name="Two"))
    transact(engine, partial(add_table, act=act, new=Table(OTHER, "c2", "caribbean-stud", "live")))
    principals = (
        Principal("flood", Role.TABLE, "c1"),
        Principal("other", Role.TABLE, "c2"),
        Principal("finance of c1", Role.FINANCE, "c1"),
        Principal("finance", Role.FINANCE),
        Principal("auditor", Role.AUDITOR),
    )
    return Keys(
        *(transact(engine, partial(create_key, act=act, principal=principal)).whole for principal in principals)
    )


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def batch(number: int, bets: int = 1) -> bytes:
    return orjson.dumps(
        {
            "bets": [
                {"bet_id": f"b{number}-{bet_no}", "player_id": f"p{bet_no}", "currency": "EUR", "stake_minor": 100}
                for bet_no in range(bets)
            ]
        }
    )


def posted(service: Service, key: str, table_id: str, numbers: Sequence[int]) -> Counter[int]:
    """Post bets one after another, none of them twice, each on a connection of its own; count the answers."""
    answers: Counter[int] = Counter()
    for number in numbers:
        answer = httpx.post(
            f"{service.base_url}/v1/tables/{table_id}/rounds/r{number}/bets",
            content=batch(number),
            headers=headers(key) | {"Content-Type": "application/json"},
            timeout=LONGEST_WAIT_S,
            trust_env=False,
        )
        answers[answer.status_code] += 1
    return answers


def request(method: str, path: str, key: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def half_sent(service: Service, requests: Sequence[bytes]) -> Iterator[None]:
    """Send requests up to the last bytes of their bodies; the server still waits for these when the block ends."""
    closed = select.poll()
    with ExitStack() as stack:
        for request_ in requests:
            client = stack.enter_context(socket.create_connection((HOST, service.port), timeout=LONGEST_WAIT_S))
            client.sendall(request_[:-2])
            closed.register(client, select.POLLIN)
        yield
        assert closed.poll(0) == []


@pytest.mark.parametrize(
    ("method", "path", "many"),
    [("POST", f"/v1/tables/{FLOODED}/rounds/half/bets", 70), ("PUT", f"/v1/tables/{FLOODED}/rounds/half/result", 150)],
    ids=["bets", "results"],
)
def test_requests_that_are_sent_by_halves_keep_nobody_from_anything(
    service: Service, keys: Keys, method: str, path: str, many: int
) -> None:
    assert posted(service, keys.flood, FLOODED, range(8)) == {201: 8}  # The workers know the key.
    with half_sent(service, [request(method, path, keys.flood, batch(0))] * 2 * many):
        assert posted(service, keys.other, OTHER, range(20)) == {201: 20}
        assert posted(service, keys.flood, FLOODED, range(100, 110)) == {201: 10}
        path, by_auditor = f"{service.base_url}/v1/jackpots", headers(keys.auditor)
        shown = httpx.get(path, headers=by_auditor, trust_env=False, timeout=LONGEST_WAIT_S)
        assert shown.status_code == httpx.codes.OK
        assert [service.status_of("/healthz") for _ in range(5)] == [httpx.codes.OK] * 5


@pytest.mark.long
def test_the_long_polls_of_one_key_turn_nobody_else_away(service: Service, keys: Keys) -> None:
    def poll(key: str, wait_s: int) -> int:
        path = f"{service.base_url}/v1/events?after=now&wait={wait_s}"
        return httpx.get(path, headers=headers(key), timeout=LONGEST_WAIT_S, trust_env=False).status_code

    service.stop()
    service.settings = {"JACKPOT_LISTENERS": "20"}  # Of each worker.
    service.start()
    with ThreadPoolExecutor(64) as pool:
        flood = [pool.submit(poll, keys.flood, 10) for _ in range(60)]
        turned_away = [call for call in flood if not call.done()]
        wait(flood, return_when=FIRST_COMPLETED)  # As soon as one is turned away, all places are taken.
        assert turned_away
        assert {poll(keys.auditor, 1) for _ in range(8)} == {httpx.codes.OK}
        assert {poll(keys.other, 1) for _ in range(8)} == {httpx.codes.OK}
        assert Counter(call.result() for call in flood).keys() == {200, 503}


@pytest.mark.long
def test_the_reports_of_one_key_keep_no_others_from_theirs(
    engine: sqlalchemy.Engine, service: Service, keys: Keys
) -> None:
    for number in range(BATCHES):
        scene.bet(engine, FLOODED, f"r{number}", *(scene.euro(f"b{bet}") for bet in range(BETS_OF_A_BATCH)))
    engine.dispose()
    ended = threading.Event()
    answers: Counter[int] = Counter()

    def report(key: str) -> int:
        path = f"{service.base_url}{REPORT}"
        return httpx.get(path, headers=headers(key), trust_env=False, timeout=LONGEST_WAIT_S).status_code

    def keep_asking() -> None:
        while not ended.is_set():
            status = report(keys.finance_of_casino)
            answers[status] += 1
            if status != httpx.codes.OK:
                time.sleep(0.05)

    with ThreadPoolExecutor(12) as pool:
        flood = [pool.submit(keep_asking) for _ in range(12)]
        try:
            wait_until(lambda: answers[503])  # As soon as one is turned away, all places of a worker are taken.
            assert [report(keys.finance) for _ in range(6)] == [httpx.codes.OK] * 6
            assert posted(service, keys.other, OTHER, range(10)) == {201: 10}
        finally:
            ended.set()
        for call in flood:
            call.result()
    assert answers.keys() == {200, 503}


@contextmanager
def flood(service: Service, make: Callable[[], bytes], *, connections: int) -> Iterator[Counter[bytes]]:
    """Keep requests in flight on so many connections while the block runs; count the first lines of the answers."""
    answers: Counter[bytes] = Counter()
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    async def keep_one_in_flight() -> None:
        while not ended.is_set():
            with suppress(asyncio.IncompleteReadError, ConnectionError):  # A worker that has too many cuts one.
                await keep_one_in_flight_on_a_connection()

    async def keep_one_in_flight_on_a_connection() -> None:
        reader, writer = await asyncio.open_connection(HOST, service.port)
        while not ended.is_set():
            writer.write(make())
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            await reader.readexactly(length)
            answers[head.split(b" ", 2)[1]] += 1
        writer.close()

    async def run() -> None:
        await asyncio.gather(*(keep_one_in_flight() for _ in range(connections)))

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(loop.run_until_complete, run())
        try:
            yield answers
        finally:
            loop.call_soon_threadsafe(ended.set)
            running.result()
            loop.close()


@pytest.mark.parametrize(("connections", "bets"), [(640, 1), (64, 500)], ids=["many calls", "large batches"])
def test_a_casino_that_floods_the_service_keeps_no_bet_of_another_out(
    service: Service, keys: Keys, connections: int, bets: int
) -> None:
    numbers = count(1000)
    bodies = batch(0, bets)

    def make() -> bytes:
        return request("POST", f"/v1/tables/{FLOODED}/rounds/r{next(numbers)}/bets", keys.flood, bodies)

    with flood(service, make, connections=connections) as answers:
        wait_until(lambda: answers[b"201"] >= connections or answers.keys() - {b"201", b"503"})
        assert answers.keys() <= {b"201", b"503"}
        assert posted(service, keys.other, OTHER, range(50)) == {201: 50}
    assert answers.keys() <= {b"201", b"503"}
