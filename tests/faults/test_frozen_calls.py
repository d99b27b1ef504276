"""A worker's calls while its database hangs: each is answered in its own time, however many wait for the same."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
import sqlalchemy

from jackpot_service.api.request_context import EXTENSION
from jackpot_service.app import create_app
from jackpot_service.auth.authenticator import KEPT_S
from jackpot_service.config.settings import Config
from jackpot_service.database import embedded
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.freezing import frozen_server
from tests.races import scene
from tests.support.asgi import replied

pytestmark = pytest.mark.long

CALLS = 64
REQUEST_TIMEOUT_S = 2.0
LONGEST_S = REQUEST_TIMEOUT_S + 1
SLACK_S = 2.0
"""How much later a call may be answered on a machine that does much else. One call after another took 16 times as
long as one may, of keys that are looked up, and six times of tables."""

CONFIG = Config(request_timeout_s=REQUEST_TIMEOUT_S, statement_timeout_ms=1000)


class Worker:
    """An application on a database, its clock for remembered keys, and the key of a table server."""

    def __init__(self, url: str, **configured: Any) -> None:
        self.config = replace(CONFIG, **configured)
        self.engine = create_engine(self.config, url)
        self._opened: list[psycopg.Connection[Any]] = []
        sqlalchemy.event.listen(self.engine, "connect", lambda connection, _: self._opened.append(connection))
        self.passed_s = 0.0
        self.app = create_app(self.config, self.engine, monotonic=lambda: time.monotonic() + self.passed_s)

    def close(self) -> None:
        """Close all connections, when nobody opens another one; pools thrown away meanwhile leave theirs open."""
        self.app.extensions[EXTENSION].threads.shutdown()
        self.engine.dispose()
        for connection in self._opened:
            connection.close()

    async def bet(self, key: str, table_id: str = "T1", round_id: str = "r1") -> tuple[int, float]:
        """Post a bet; returns the status, and how long the answer took."""
        began = time.monotonic()
        body = b'{"bets":[{"bet_id":"b","player_id":"p","hand":"1","currency":"EUR","stake_minor":100}]}'
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        path = f"/v1/tables/{table_id}/rounds/{round_id}/bets"
        answer = await replied(self.app.asgi, "POST", path, data=body, headers=headers)
        return answer.status, time.monotonic() - began

    async def bets(self, *calls: tuple[str, str]) -> None:
        """Post bets at once, each with a key and of a table; each is answered in time that it cannot be booked."""
        answers = await asyncio.gather(*(self.bet(*call) for call in calls))
        assert {status for status, _ in answers} == {503}
        longest_s = max(took_s for _, took_s in answers)
        assert longest_s < LONGEST_S + SLACK_S


@pytest.fixture
def worker(durable: embedded.Cluster) -> Iterator[Worker]:
    worker = Worker(durable.service_url())
    yield worker
    worker.close()


@pytest.fixture
def key(worker: Worker) -> str:
    """Set tables up, and give the test the key of their server."""
    scene.open_house(worker.engine)
    scene.open_live(worker.engine, "live", tables=[f"T{number}" for number in range(CALLS)])
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(worker.engine, lambda session: create_key(session, act, scene.SERVER)).whole


def test_calls_of_a_key_that_is_no_longer_remembered(worker: Worker, durable: embedded.Cluster, key: str) -> None:
    async def play() -> None:
        assert (await worker.bet(key))[0] == 201
        with frozen_server(durable):
            worker.passed_s = KEPT_S + 1
            await worker.bets(*((key, "T1") for _ in range(CALLS)))

    asyncio.run(play())


def test_calls_of_tables_that_are_not_known_yet(worker: Worker, durable: embedded.Cluster, key: str) -> None:
    async def play() -> None:
        assert (await worker.bet(key))[0] == 201
        with frozen_server(durable):
            await worker.bets(*((key, f"T{number}") for number in range(CALLS)))

    asyncio.run(play())


def test_calls_from_an_address_that_failed_to_sign_in_too_often(durable: embedded.Cluster, key: str) -> None:
    limited = Worker(durable.service_url(), sign_in_rate=0.1)

    async def play() -> None:
        assert [(await limited.bet(f"jk_{number:016x}_x"))[0] for number in range(2)] == [401, 429]
        with frozen_server(durable):
            limited.passed_s = 2
            await limited.bets(*((key, "T1") for _ in range(CALLS)))

    asyncio.run(play())
    limited.close()
