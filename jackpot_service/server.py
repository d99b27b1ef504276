"""Serving: granian's workers, each with its own application made by `application`."""

import gc
import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext

import flask
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from jackpot_service import logs
from jackpot_service.api.admission import MOST_AT_ONCE
from jackpot_service.api.door import EXTENSION
from jackpot_service.api.event_stream import MOST_WAITING
from jackpot_service.app import create_app
from jackpot_service.beside import job_runner
from jackpot_service.config import Config
from jackpot_service.connections import create_engine

THREADS = MOST_AT_ONCE + MOST_WAITING + 8
"""Threads a worker: calls of bets that wait for the commit they share, those that wait for events, some for others."""

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""A call leaves eight objects in a cycle. Every 700, looking for them cost a quarter of the time; 200,000 stopped all
calls for 230 ms when their turn came, 20,000 do for 20."""

LONGEST_QUEUE = 512
"""Connections that may wait for a worker before the kernel makes others wait."""


def application() -> flask.Flask:
    """Make a worker's application; the supervisor has put the database's URL into its environment."""
    config = Config.from_environment(os.environ)
    if config.database_url is None:
        message = "A worker needs JACKPOT_DATABASE_URL; `jackpot serve` sets it."
        raise LookupError(message)
    logs.configure(config.log_level)
    app = create_app(config, create_engine(config, config.database_url))
    gc.freeze()  # What is made at the start lives as long as the worker; no collection need look at it again.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    _when_told_to_end(app.extensions[EXTENSION].events.end)
    return app


def _when_told_to_end(act: Callable[[], None]) -> None:
    """
    Do something when the worker is told to end: granian waits for the calls in progress before it tells anybody.

    It sets handlers of its own, so this only listens to which signals arrive.
    """
    arriving, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)

    def listen() -> None:
        while os.read(arriving, 1)[0] not in {signal.SIGINT, signal.SIGTERM}:
            pass
        act()

    threading.Thread(target=listen, daemon=True).start()


def serve(config: Config, url: str, *, host: str, port: int, workers: int, jobs: bool = True) -> None:
    """
    Serve until SIGINT or SIGTERM, and return when every worker has ended; jobs are done beside, unless they are not.

    Workers are started by spawning: they read the environment, in which the URL is put here.
    """
    os.environ["JACKPOT_DATABASE_URL"] = url
    # So many threads are meant: nearly all of them wait for a commit, and `Admission` bounds them.
    logging.getLogger("_granian").addFilter(lambda record: "Python threads" not in record.getMessage())
    server = Granian(
        target="jackpot_service.server:application",
        factory=True,
        interface=Interfaces.WSGI,
        address=host,
        port=port,
        workers=workers,
        blocking_threads=THREADS,
        backpressure=LONGEST_QUEUE,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_level=LogLevels(config.log_level),
    )
    with job_runner() if jobs else nullcontext():
        server.serve()
