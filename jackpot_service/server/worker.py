"""A worker: one event loop, on which uvicorn reads requests, and the application that answers them."""

import asyncio
import faulthandler
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

import structlog
from uvicorn.config import STARTUP_FAILURE

from jackpot_service.api.asgi import Receive, Scope, Send
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.app import Application, create_app
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.server.clients import Clients
from jackpot_service.server.colleagues import joined
from jackpot_service.server.files import listeners_within_limit
from jackpot_service.server.protocol import CLIENTS, CONNECTION
from jackpot_service.telemetry import logs

OBJECTS_BETWEEN_COLLECTIONS: Final = 20_000
"""A call leaves eight objects in a cycle. Every 700, looking for them cost a quarter of the time; 200,000 stopped all
calls for 230 ms when their turn came, 20,000 do for 20."""

LONGEST_STANDSTILL_S: Final = 60
"""A worker whose loop does nothing for so long is ended by the kernel, and another takes its place."""

LONGEST_END_S: Final = 10
"""From SIGTERM until a worker that has not ended is ended by the kernel."""

LONGEST_FAREWELL_S: Final = 1.0
"""How long a worker that ends still takes requests, so that their answers can say that the connection is closed."""

BODY_SLACK: Final = 16 * 1024
"""Bytes by which a body may exceed what the application takes: so much it refuses itself, and keeps the connection."""

log = structlog.get_logger()


def application() -> "Served":
    """Make a worker's application. A worker that cannot ends with a status for which no other is started."""
    try:
        return Served(_application())
    except Exception:
        log.exception("worker-cannot-start")
        sys.exit(STARTUP_FAILURE)


def _application() -> Application:
    config = Config.from_environment(os.environ)
    logs.configure(config.log_level)
    logs.configure_libraries(config.log_level)
    url = config.database_url
    if url is None:
        message = "A worker needs JACKPOT_DATABASE_URL; `jackpot serve` sets it."
        raise LookupError(message)
    config = replace(config, listeners=listeners_within_limit(config.listeners))
    app = create_app(config, create_engine(config, url))
    gc.freeze()  # Objects of the start live as long as the worker; no collection need look at them again.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    return app


class Served:
    """The application as uvicorn calls it: for each request, and once for the life of the worker."""

    def __init__(self, application: Application) -> None:
        context = application.extensions[EXTENSION]
        self._asgi = application.asgi
        self._ends = (context.events.end, context.feeds.end)
        self._most_body_bytes = context.config.max_body_bytes + BODY_SLACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; see the specification of ASGI."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        connection = scope["state"].pop(CONNECTION)  # Else both would hold each other, and the body, until collected.
        try:
            await self._asgi(scope, receive, send)
        except asyncio.CancelledError:  # Its time at the end is up: nobody knows what becomes of the call.
            connection.cut()
            raise
        finally:
            connection.request_answered()

    def _end_waits(self) -> None:
        for end in self._ends:
            end()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        clients = scope["state"][CLIENTS] = Clients(most_body_bytes=self._most_body_bytes)
        await receive()
        with joined(clients):
            async with living(clients, self._end_waits):
                await send({"type": "lifespan.startup.complete"})
                await receive()
        await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def living(clients: Clients, end_waits: Callable[[], None]) -> AsyncIterator[None]:
    """Keep an eye on the connections, on the supervisor and on the loop itself; drain at SIGTERM."""
    loop, has_to_end = asyncio.get_running_loop(), asyncio.Event()
    end = partial(_call, signal.getsignal(signal.SIGTERM))
    loop.add_signal_handler(signal.SIGTERM, has_to_end.set)
    faulthandler.register(signal.SIGALRM, chain=True)  # It says where the worker stood still, before that ends.
    watch = loop.create_task(_watch(clients, has_to_end))
    drain = loop.create_task(_drain(clients, has_to_end, end_waits, end))
    yield
    watch.cancel()
    drain.cancel()


def _call(handler: Any, number: int = signal.SIGTERM) -> None:  # noqa: ANN401  as `signal` has it
    """Call uvicorn's handler of a signal."""
    handler(number, None)


async def _watch(clients: Clients, has_to_end: asyncio.Event) -> None:
    """Once a second: put off the end of a worker that stands still, and look who is late, or gone."""
    loop, supervisor = asyncio.get_running_loop(), multiprocessing.parent_process()
    while not has_to_end.is_set():
        signal.alarm(LONGEST_STANDSTILL_S)
        clients.close_late(loop.time())
        if supervisor is not None and os.getppid() != supervisor.pid:
            has_to_end.set()
        await asyncio.sleep(1)


async def _drain(
    clients: Clients, has_to_end: asyncio.Event, end_waits: Callable[[], None], end: Callable[[], None]
) -> None:
    """
    Once it has to end, answer for a while and say with each answer that the connection is closed; then let uvicorn end.

    A client that did not know would send its next request into a connection that is being closed, and not learn whether
    it was booked.
    """
    await has_to_end.wait()
    faulthandler.unregister(signal.SIGALRM)
    signal.alarm(LONGEST_END_S)
    clients.is_draining = True
    if clients.colleagues is not None:
        clients.colleagues.leave()
    end_waits()
    loop = asyncio.get_running_loop()
    until = loop.time() + LONGEST_FAREWELL_S
    while loop.time() < until:
        await asyncio.sleep(0.1)
        if not len(clients):
            break
    end()
