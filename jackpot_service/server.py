"""Serving: granian's workers, each with its own application made by `application`."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.log import LogLevels

from jackpot_service import logs
from jackpot_service.api import asgi
from jackpot_service.api.door import EXTENSION
from jackpot_service.app import create_app
from jackpot_service.beside import job_runner
from jackpot_service.config import Config
from jackpot_service.connections import create_engine

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""A call leaves eight objects in a cycle. Every 700, looking for them cost a quarter of the time; 200,000 stopped all
calls for 230 ms when their turn came, 20,000 do for 20."""

LONGEST_QUEUE = 512
"""Calls that a worker takes at once; those beyond wait in the kernel."""


def application() -> asgi.Application:
    """Make a worker's application; the supervisor has put the database's URL into its environment."""
    config = Config.from_environment(os.environ)
    if config.database_url is None:
        message = "A worker needs JACKPOT_DATABASE_URL; `jackpot serve` sets it."
        raise LookupError(message)
    logs.configure(config.log_level)
    app = create_app(config, create_engine(config, config.database_url))
    gc.freeze()  # What is made at the start lives as long as the worker; no collection need look at it again.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    _end_with_the_supervisor()
    return _Listening(app.asgi, app.extensions[EXTENSION].events.end)


class _Listening:
    """
    An application that does something when its worker is told to end.

    It listens from its first call on: before, nobody waits, and the loop has yet to say that it listens itself.
    """

    def __init__(self, application: asgi.Application, act: Callable[[], None]) -> None:
        self._application = application
        self._act = act
        self._listens = False

    def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> Awaitable[None]:
        if not self._listens:
            self._listens = True
            _when_told_to_end(self._act)
        return self._application(scope, receive, send)


def _end_with_the_supervisor() -> None:
    """Tell the worker to end when the supervisor is gone: nobody else would."""
    supervisor = multiprocessing.parent_process()

    def wait() -> None:
        if supervisor is not None:
            supervisor.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _when_told_to_end(act: Callable[[], None]) -> None:
    """
    Do something when the worker is told to end: the server waits for the calls in progress before it tells anybody.

    The server handles the signals, so this only listens to which of them arrive.
    """
    arriving, told = os.pipe()
    os.set_blocking(told, False)
    others = signal.set_wakeup_fd(told, warn_on_full_buffer=False)

    def listen() -> None:
        while arrived := os.read(arriving, 1):
            if others >= 0:  # Python knows one listener only: whoever was it before is told by this.
                os.write(others, arrived)
            if arrived[0] in {signal.SIGINT, signal.SIGTERM}:
                act()

    threading.Thread(target=listen, daemon=True).start()


def serve(config: Config, url: str, *, host: str, port: int, workers: int, jobs: bool = True) -> None:
    """
    Serve until SIGINT or SIGTERM, and return when every worker has ended; jobs are done beside, unless they are not.

    Workers read the environment, in which the URL is put here.
    """
    os.environ["JACKPOT_DATABASE_URL"] = url
    server = Granian(
        target="jackpot_service.server:application",
        factory=True,
        interface=Interfaces.ASGINL,
        loop=Loops.uvloop,
        address=host,
        port=port,
        workers=workers,
        websockets=False,
        backpressure=LONGEST_QUEUE,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_level=LogLevels(config.log_level),
    )
    with job_runner() if jobs else nullcontext():
        server.serve()
