"""Connections that pass between the workers of a real server: no call is lost, and a stopped worker gets none."""

import os
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import httpx
import orjson
import psutil
import psycopg
import pytest
import sqlalchemy

from jackpot_service.app import shares_of
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.server.board import SILENT_AFTER_S
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.freezing import frozen
from tests.faults.processes import LONGEST_WAIT_S, all_workers, wait_until
from tests.faults.service import HOST, Service
from tests.faults.wire import Wire
from tests.races import scene
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.long

SMALL = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
TABLES_AT_WORK = 24
LARGE = 600
"""Bets of a request: two dozen of these are more than a worker should have in hand by itself."""


def connections_of(pid: int, service: Service) -> int:
    """How many connections of clients a worker has."""
    of_worker = psutil.Process(pid).net_connections("tcp")
    return sum(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == service.port for each in of_worker)


def connections(service: Service) -> list[int]:
    """How many connections each worker has, the most first."""
    return sorted((connections_of(pid, service) for pid in all_workers(service)), reverse=True)


@pytest.fixture
def key(engine: sqlalchemy.Engine) -> str:
    """Open a jackpot and a table of it, and give the test the key of its server."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000", stripes=16)
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(engine, partial(create_key, act=act, principal=scene.SERVER)).whole


def all_answered(clients: Sequence[Wire]) -> bool:
    """Have each client ask, and be answered: then its connection may pass to another worker."""
    return [client.send(SMALL).answer().status for client in clients] == [httpx.codes.OK] * len(clients)


def first_worker(service: Service, client: Wire) -> int:
    """The worker that has all connections while little is asked; a client's is there after some answers."""
    until = time.monotonic() + 2 * SILENT_AFTER_S
    while time.monotonic() < until:
        assert all_answered([client])
    (first,) = (pid for pid in all_workers(service) if connections_of(pid, service))
    return first


def test_connections_that_ask_little_are_all_at_one_worker(service: Service) -> None:
    all_workers(service)
    with ExitStack() as stack:
        clients = [stack.enter_context(Wire(service)) for _ in range(20)]
        wait_until(lambda: all_answered(clients) and connections(service) == [20, 0])
        assert all_answered(clients)


REPORT = "/v1/reports/trial-balance"
WAITING_FOR_LOCKS = """
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@contextmanager
def asking_for_reports(service: Service, key: str, clients: int) -> Iterator[list[int]]:
    """Have so many clients, who are all at one worker, ask for a report again and again; keeps the answers."""
    answers: list[int] = []
    begin, stop = threading.Event(), threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=service.base_url, trust_env=False, timeout=LONGEST_WAIT_S) as client:
            while not stop.is_set():
                if begin.is_set():
                    answers.append(client.get(REPORT, headers={"Authorization": f"Bearer {key}"}).status_code)
                else:
                    assert client.get("/healthz").status_code == httpx.codes.OK
                time.sleep(0.05)

    with ThreadPoolExecutor(clients) as threads:
        running = [threads.submit(ask) for _ in range(clients)]
        try:
            wait_until(lambda: connections(service) == [clients, 0])
            begin.set()
            yield answers
        finally:
            stop.set()
        for each in running:
            each.result()


@pytest.mark.usefixtures("key")
def test_reports_that_one_worker_refuses_are_made_by_the_other(service: Service, engine: sqlalchemy.Engine) -> None:
    all_workers(service)
    of_a_worker = shares_of(Config().pool_size).reports
    act = Act(SYSTEM_OPERATOR, scene.now())
    key = transact(engine, partial(create_key, act=act, principal=Principal("finance", Role.FINANCE))).whole
    owner = owner_conninfo(service.url)
    with psycopg.connect(owner) as holder, psycopg.connect(owner, autocommit=True) as watcher:
        holder.execute("LOCK TABLE stripes IN ACCESS EXCLUSIVE MODE")
        with asking_for_reports(service, key, 3 * of_a_worker) as answers:
            wait_until(
                lambda: watcher.execute(WAITING_FOR_LOCKS).rowcount > of_a_worker and connections(service)[1] > 0
            )
            holder.rollback()
            wait_until(lambda: httpx.codes.OK in answers)
    assert set(answers) <= {httpx.codes.OK, httpx.codes.SERVICE_UNAVAILABLE}


def batch(table: int, number: int) -> bytes:
    return orjson.dumps(
        {
            "bets": [
                {"bet_id": f"{table}-{number}-{bet}", "player_id": f"p{bet}", "currency": "EUR", "stake_minor": 100}
                for bet in range(LARGE)
            ]
        }
    )


class Playing:
    """Table servers that send one large batch after another, and clients that send two requests at a time."""

    def __init__(self, service: Service, key: str) -> None:
        self.service = service
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.answers: Counter[int] = Counter()
        self.answers_of_two: Counter[int] = Counter()
        self.stop = threading.Event()
        self.large = threading.Event()

    def table(self, number: int) -> None:
        """Send large batches while they are asked for, then small questions, all on one connection."""
        with httpx.Client(base_url=self.service.base_url, trust_env=False, timeout=LONGEST_WAIT_S) as client:
            sent = 0
            while not self.stop.is_set():
                if self.large.is_set():
                    path = f"/v1/tables/T1/rounds/r{number}-{sent}/bets"
                    answer = client.post(path, content=batch(number, sent), headers=self.headers)
                    sent += 1
                    self.answers[answer.status_code] += 1
                else:
                    assert client.get("/healthz").status_code == httpx.codes.OK
                    time.sleep(0.05)

    def two_at_once(self) -> None:
        """Send two requests at a time: the second is read when the first is answered, and has its own answer."""
        with Wire(self.service) as client:
            while not self.stop.is_set():
                client.send(SMALL + SMALL)
                self.answers_of_two[client.answer().status] += 1
                self.answers_of_two[client.answer().status] += 1


@contextmanager
def playing(service: Service, key: str) -> Iterator[Playing]:
    play = Playing(service, key)
    with ThreadPoolExecutor(TABLES_AT_WORK + 2) as threads:
        running = [threads.submit(play.table, number) for number in range(TABLES_AT_WORK)]
        running += [threads.submit(play.two_at_once) for _ in range(2)]
        try:
            yield play
        finally:
            play.stop.set()
        for each in running:
            each.result()


def test_large_batches_are_shared_by_the_workers_and_no_call_is_lost_or_booked_twice(
    service: Service, engine: sqlalchemy.Engine, key: str
) -> None:
    all_workers(service)
    with playing(service, key) as play:
        for _ in range(3):
            play.large.set()
            wait_until(lambda: connections(service)[1] >= TABLES_AT_WORK // 4)
            play.large.clear()
            wait_until(lambda: connections(service)[1] == 0)
    assert set(play.answers) == {httpx.codes.CREATED}
    assert set(play.answers_of_two) == {httpx.codes.OK}
    with engine.connect() as connection:
        booked = connection.execute(sqlalchemy.text("SELECT count(*) FROM bets")).scalar_one()
    assert booked == LARGE * play.answers.total()


def test_a_worker_that_is_stopped_is_passed_no_connection(service: Service) -> None:
    all_workers(service)
    with Wire(service) as client:
        first = first_worker(service, client)
        with frozen(first):
            time.sleep(2 * SILENT_AFTER_S)
            for _ in range(20):
                answer = httpx.get(f"http://{HOST}:{service.port}/healthz", trust_env=False, timeout=LONGEST_WAIT_S)
                assert answer.status_code == httpx.codes.OK
        assert client.send(SMALL).answer().status == httpx.codes.OK


@contextmanager
def first_stopped(service: Service) -> Iterator[tuple[int, list[Wire]]]:
    """Stop the worker that has all connections, and at once open more, of which each sends two requests."""
    all_workers(service)
    with ExitStack() as stack:
        client = stack.enter_context(Wire(service))
        first = first_worker(service, client)
        stack.enter_context(frozen(first))
        clients = [stack.enter_context(Wire(service)) for _ in range(20)]
        assert all_answered(clients)  # By the other worker, which does not know yet, and passes connections on.
        yield first, [client.send(SMALL) for client in clients]


def test_a_worker_that_was_stopped_just_now_keeps_no_connection_waiting(service: Service) -> None:
    with first_stopped(service) as (_, clients):
        assert [client.answer().status for client in clients] == [httpx.codes.OK] * 20


def test_what_was_passed_to_a_worker_that_is_killed_is_answered_by_the_other(service: Service) -> None:
    with first_stopped(service) as (first, clients):
        os.kill(first, signal.SIGKILL)
        assert [client.answer().status for client in clients] == [httpx.codes.OK] * 20


def test_what_was_passed_to_a_worker_that_can_open_no_file_is_answered_by_the_other(service: Service) -> None:
    with first_stopped(service) as (first, clients):
        before = resource.prlimit(first, resource.RLIMIT_NOFILE)
        resource.prlimit(first, resource.RLIMIT_NOFILE, (1, before[1]))
        os.kill(first, signal.SIGCONT)
        try:
            assert [client.answer().status for client in clients] == [httpx.codes.OK] * 20
        finally:
            resource.prlimit(first, resource.RLIMIT_NOFILE, before)
