"""
What displays and people cost: processor time of the workers above that without, and what bets feel of them.

Bets come at a low, steady rate, so that the meter changes in every second and each display gets a frame a second. The
displays are connections of a process of their own, which reads what comes and counts it.
"""

import asyncio
import multiprocessing
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from bench import open_loop, people, processor, servers
from bench.figures import Figure
from bench.requests import BetRequests
from bench.servers import WORKERS
from bench.site import Site
from bench.targets import DISPLAYS_OF_A_CORE, DISPLAYS_OF_P99
from bench.wire import HOST

NAME = "displays"

BETS_A_SECOND = 40
_CONNECT_AT_ONCE = 200
_LONGEST_CONNECT_S = 60.0
_FRAME = b"data: "


@dataclass(frozen=True, slots=True)
class Plan:
    """How many displays of each worker, and for how long they look on."""

    displays: int
    seconds: float
    people: int
    """How many people are on finance too, in a further part of the measurement."""


@dataclass(frozen=True, slots=True)
class _Cost:
    core: float
    """Processor seconds of the workers in a second."""
    p99_ms: float


def measure(site: Site, plan: Plan) -> tuple[Figure, ...]:
    """Measure without displays, with them, and without them again. Raises: ServerFailed, LoadFailed, RuntimeError."""
    return tuple(_measured(site, plan))


def _measured(site: Site, plan: Plan) -> Iterator[Figure]:
    count = plan.displays * WORKERS
    at = {"displays": count, "workers": WORKERS}
    site.log("displays: nobody looks")
    before = _cost(site, plan.seconds)
    with _looking(site, count) as frames:
        site.log(f"displays: {count} look")
        began, seen = time.monotonic(), frames()
        during = _cost(site, plan.seconds)
        a_second = (frames() - seen) / (time.monotonic() - began) / count
        site.log(f"displays: {count} look, and {plan.people} people look at finance")
        with people.looking(site.service, plan.people):
            among_people = _cost(site, plan.seconds)
        with (
            servers.serving_people(site.service, site.directory / "people.log") as desk,
            people.looking(desk, plan.people),
        ):
            beyond_people = _cost(site, plan.seconds)
    site.log("displays: nobody looks any more")
    after = _cost(site, plan.seconds)
    alone = (before.core + after.core) / 2
    yield Figure(NAME, "workers without displays", alone, "cores", at)
    yield Figure(NAME, "above that, of each worker", (during.core - alone) / WORKERS, "cores", at, DISPLAYS_OF_A_CORE)
    yield Figure(NAME, "frames of a display", a_second, "a second", at)
    alone_ms = (before.p99_ms + after.p99_ms) / 2
    yield Figure(NAME, "p99 of a bet without displays", alone_ms, "ms", at)
    yield Figure(NAME, "p99 of a bet, of that without", during.p99_ms / alone_ms, "times", at, DISPLAYS_OF_P99)
    with_people = {**at, "people": plan.people}
    among, beyond = among_people.p99_ms / alone_ms, beyond_people.p99_ms / alone_ms
    yield Figure(NAME, "p99 of a bet, with people on finance at the same service", among, "times", with_people)
    yield Figure(
        NAME, "p99 of a bet, with people at a service of their own", beyond, "times", with_people, DISPLAYS_OF_P99
    )


def _cost(site: Site, seconds: float) -> _Cost:
    requests = BetRequests(site.service, bets=1)
    began, used = time.monotonic(), processor.workers_seconds(site.service)
    load = open_loop.run(site.service.port, requests, due_ns=open_loop.schedule(BETS_A_SECOND, seconds))
    core = (processor.workers_seconds(site.service) - used) / (time.monotonic() - began)
    return _Cost(core, load.latencies.percentile_ms(99))


@contextmanager
def _looking(site: Site, count: int) -> Iterator["_Frames"]:
    """Have so many displays look on until the end."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    request = (
        f"GET /v1/jackpots/live/feed?currency=EUR,GBP HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n"
        f"Authorization: Bearer {site.service.key}\r\n\r\n"
    )
    process = context.Process(target=_look_on, args=(theirs, site.service.port, count, request.encode()), daemon=True)
    process.start()
    try:
        yield _Frames(ours, process)
    finally:
        process.terminate()
        process.join()


class _Frames:
    """Counts the frames that the displays have had."""

    def __init__(self, pipe: Connection, process: BaseProcess) -> None:
        self._pipe = pipe
        self._process = process
        self()  # Until all are connected.

    def __call__(self) -> int:
        self._pipe.send(None)
        if not self._pipe.poll(_LONGEST_CONNECT_S):
            message = f"The displays did not connect; their process is {self._process.exitcode}."
            raise RuntimeError(message)
        frames: int = self._pipe.recv()
        return frames


class _Display(asyncio.Protocol):
    frames = 0
    ended = 0

    def __init__(self, request: bytes, first: "asyncio.Future[None]") -> None:
        self._request = request
        self._first = first

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  asyncio's own
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        _Display.frames += data.count(_FRAME)
        if not self._first.done():
            self._first.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's
        _Display.ended += 1


def _look_on(pipe: Connection, port: int, count: int, request: bytes) -> None:
    """Connect, and count the frames that come whenever somebody asks. The displays' own process."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(_look_on_all(pipe, port, count, request))


async def _look_on_all(pipe: Connection, port: int, count: int, request: bytes) -> None:
    loop = asyncio.get_running_loop()
    for start in range(0, count, _CONNECT_AT_ONCE):
        firsts = [loop.create_future() for _ in range(min(_CONNECT_AT_ONCE, count - start))]
        made = (loop.create_connection(partial(_Display, request, first), HOST, port) for first in firsts)
        await asyncio.gather(*made)
        await asyncio.gather(*firsts)
    while True:
        await loop.run_in_executor(None, pipe.recv)
        if _Display.ended:
            message = f"{_Display.ended} displays were cut off."
            raise RuntimeError(message)
        pipe.send(_Display.frames)
