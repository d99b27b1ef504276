"""Health is told by the event loop, behind no other call; ready is only who takes bets."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import flask
import psycopg
import pytest
import sqlalchemy

from jackpot_service.api import asgi, readiness
from jackpot_service.api.asgi import REQUEST_ID
from jackpot_service.api.bet_groups import FAILING_S
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.database import deadlines
from jackpot_service.database.transactions import is_writable
from tests.support.bets import bet
from tests.support.logins import owner_conninfo
from tests.support.world import World

OUT_OF_MEMORY = """
CREATE FUNCTION out_of_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = 'out_of_memory'; END $$;
CREATE TRIGGER out_of_memory BEFORE INSERT ON bets EXECUTE FUNCTION out_of_memory();
"""


@pytest.fixture
def opened(world: World) -> World:
    world.open(jackpot_id="j1", tables=("T1",))
    return world


@contextmanager
def seen_by_flask(world: World) -> Iterator[list[str]]:
    seen: list[str] = []

    def see(_app: flask.Flask, **_: Any) -> None:
        seen.append(flask.request.path)

    with flask.request_started.connected_to(see, world.app):
        yield seen


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_loop_answers_as_flask_does_with_any_query_and_to_head(opened: World, path: str) -> None:
    flasks = opened.app.test_client().get(path)
    with seen_by_flask(opened) as seen:
        answered = opened.call("GET", path, key=None, headers={REQUEST_ID: "mine"})
        with_query = opened.call("GET", f"{path}?from=balancer", key=None)
        head = opened.call("HEAD", path, key=None)
    assert seen == []
    assert (answered.ok(), answered.headers["Content-Type"]) == (flasks.get_json(), flasks.headers["Content-Type"])
    assert answered.headers[REQUEST_ID] == "mine"
    assert with_query.ok() == answered.body
    assert (head.status, head.text, head.headers["Content-Length"]) == (200, "", answered.headers["Content-Length"])


def test_ready_is_asked_of_the_database_once_a_second_however_many_ask(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    real = is_writable

    def counted(*arguments: Any) -> bool:
        looks.append(1)
        return real(*arguments)

    monkeypatch.setattr(readiness, "is_writable", counted)
    monkeypatch.setattr(readiness, "KEPT_S", 60)
    ready_check = opened.app.extensions[EXTENSION].readiness

    async def ask() -> None:
        assert all(ready_.is_ready for ready_ in await asyncio.gather(*[ready_check.current() for _ in range(50)]))

    asyncio.run(ask())
    assert len(looks) == 1


def test_it_is_not_ready_for_a_moment_after_bets_failed_for_want_of_the_database(
    opened: World, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "KEPT_S", 0)
    monkeypatch.setattr("jackpot_service.api.bet_groups.FAILING_S", 60)
    opened.post_bets(bet("a")).ok(201)
    with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
        owner.execute(OUT_OF_MEMORY)
        opened.post_bets(bet("b"), round_id="r2").problem(503, "busy")
        unready = opened.call("GET", "/readyz", key=None)
        assert (unready.status, unready.body["bets_accepted"]) == (503, False)
        owner.execute("DROP TRIGGER out_of_memory ON bets")
    opened.post_bets(bet("b"), round_id="r2").ok(201)
    assert opened.call("GET", "/readyz", key=None).ok()["bets_accepted"] is True
    assert FAILING_S > readiness.KEPT_S


def test_it_is_answered_within_two_seconds_while_the_look_at_the_database_hangs(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "KEPT_S", 0)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(*_: object) -> None:
        hangs.set()
        assert goes_on.wait(60)

    async def took_s(waiting: Awaitable[object]) -> float:
        began = time.monotonic()
        await waiting
        return time.monotonic() - began

    async def answer() -> None:
        ready = await ready_check.current()
        assert not goes_on.is_set()
        assert (ready.is_ready, ready.database_writable) == (False, False)

    async def answered_after_s() -> float:
        """Without what a busy machine adds to any wait: one of the same length is as late."""
        length_s = readiness.LONGEST_ANSWER_S
        answered_s, waited_s = await asyncio.gather(took_s(answer()), took_s(asyncio.sleep(length_s)))
        return answered_s - (waited_s - length_s)

    ready_check = opened.app.extensions[EXTENSION].readiness
    sqlalchemy.event.listen(ready_check._engine, "before_cursor_execute", hang)
    try:
        # A machine that does much else may be late twice.
        assert any(asyncio.run(answered_after_s()) < 2 for _ in range(3))
        assert hangs.is_set()
    finally:
        goes_on.set()
    assert readiness.LONGEST_ANSWER_S < 2


def test_a_call_that_waited_for_a_thread_beyond_its_time_asks_the_database_nothing() -> None:
    """Its deadline counts from when it came, not from when its turn did."""
    turn = threading.Event()
    left: list[float | None] = []

    def application(_environ: Any, start: Any) -> list[bytes]:
        left.append(deadlines.left_s())
        start("200 OK", [("Content-Length", "0")])
        return [b""]

    async def play(threads: ThreadPoolExecutor) -> None:
        threads.submit(turn.wait, 30)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/",
            "raw_path": b"/",
            "query_string": b"",
            "headers": [],
        }
        sent: list[asgi.Message] = []

        async def receive() -> asgi.Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: asgi.Message) -> None:
            sent.append(message)

        calling = asyncio.ensure_future(asgi.InThreads(application, threads, longest_s=0.2)(scope, receive, send))
        await asyncio.sleep(0.3)
        turn.set()
        await calling

    with ThreadPoolExecutor(1) as threads:
        asyncio.run(play(threads))
    assert left[0] is not None
    assert left[0] <= 0
    assert deadlines.left_s() is None
