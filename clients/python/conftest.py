"""Fixtures of the client's tests: a scripted server, a clock, and clients of both kinds."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from jackpot_client import JackpotClient
from tests.support.blocking import blocking_client
from tests.support.scripted import Clock, MakeClient, Scripted, scripted_service


@pytest.fixture
def service() -> Iterator[Scripted]:
    """Run a scripted server for one test."""
    with scripted_service() as scripted:
        yield scripted


@pytest.fixture
def clock() -> Clock:
    """Return a clock at its start."""
    return Clock()


@pytest.fixture(params=["threads", "asyncio"])
def make_client(request: pytest.FixtureRequest, service: Scripted, clock: Clock) -> Iterator[MakeClient]:
    """Make clients of the scripted server, by the clock of the test: those of threads, and those of asyncio."""
    with ExitStack() as made:

        def make(base_url: str = "", key: str | None = "key", **options: Any) -> JackpotClient:  # noqa: ANN401  of a client
            options = {"sleep": clock.sleep, "clock": clock.read, **options}
            kind: Callable[..., AbstractContextManager[JackpotClient]]
            kind = JackpotClient if request.param == "threads" else blocking_client
            return made.enter_context(kind(base_url or service.url, key, **options))

        yield make


@pytest.fixture
def client(make_client: MakeClient) -> JackpotClient:
    """Return a client of the scripted server."""
    return make_client()
