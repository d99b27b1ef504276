"""Waiting for events at the real server: a late commit is told to those who wait, and nobody is kept from betting."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import httpx
import pytest
import sqlalchemy

from jackpot_client import Bet, Hand
from jackpot_service.api.event_stream import MOST_WAITING
from jackpot_service.db import Session, transact
from jackpot_service.domain.outcomes import Cancellation
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.create_key import create_key
from tests.faults.load import client_for
from tests.faults.service import Service
from tests.races import scene

WORKERS = 2
EVERY_PLACE = MOST_WAITING * WORKERS

BET = Bet(bet_id="b", player_id="p", currency="EUR", stake_minor=100)
HAND = Hand(hand="1", cards=tuple(scene.NOTHING.split()))

Ask = Callable[..., httpx.Response]


@pytest.fixture
def keys(engine: sqlalchemy.Engine) -> dict[Role, str]:
    """Set a table up, and give the test the keys of its server and of an auditor."""
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    principals = (scene.SERVER, Principal("Ada", Role.AUDITOR))
    act = Act(SYSTEM_OPERATOR, scene.now())
    return {one.role: transact(engine, partial(create_key, act=act, principal=one)).whole for one in principals}


@pytest.fixture
def ask(service: Service, keys: dict[Role, str]) -> Ask:
    def ask(**query: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {keys[Role.AUDITOR]}"}
        return httpx.get(f"{service.base_url}/v1/events", params=query, headers=headers, timeout=60, trust_env=False)

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
        told = waiting.result().json()

    assert [event["subject"] for event in told["items"]] == ["round T1/late"]
    assert ask(after=told["next"]).json()["items"] == []


def test_those_who_wait_keep_nobody_from_betting_and_are_bounded(
    service: Service, keys: dict[Role, str], ask: Ask
) -> None:
    start = ask(after="now").json()["next"]

    with ThreadPoolExecutor(2 * EVERY_PLACE) as pool:
        waiting = [pool.submit(ask, after=start, wait=20) for _ in range(2 * EVERY_PLACE)]
        wait(waiting, timeout=30, return_when=FIRST_COMPLETED)  # Those for whom there is no place are told at once.
        with client_for(service.base_url, keys[Role.TABLE]) as client:
            for number in range(20):
                client.place_bets(table_id="T1", round_id=f"r{number}", bets=[BET])
            client.put_result(table_id="T1", round_id="r0", bet_count=1, hands=[HAND])
        answers = [one.result() for one in waiting]

    told = [answer.json()["items"] for answer in answers if answer.status_code == httpx.codes.OK]
    refused = [answer for answer in answers if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE]
    assert len(told) + len(refused) == 2 * EVERY_PLACE
    assert 0 < len(told) <= EVERY_PLACE
    assert {tuple(event["subject"] for event in items) for items in told} == {("round T1/r0",)}
    assert {answer.headers["Retry-After"] for answer in refused} == {"1"}


def test_a_server_that_is_stopped_does_not_wait_for_those_who_wait(service: Service, ask: Ask) -> None:
    start = ask(after="now").json()["next"]

    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, after=start, wait=20) for _ in range(MOST_WAITING)]
        wait(waiting, timeout=1)
        service.stop()

    assert "Shutting down" in service.log.read_text()
    assert "refused to gracefully stop" not in service.log.read_text()
    assert all(isinstance(one.exception(), httpx.TransportError | type(None)) for one in waiting)
