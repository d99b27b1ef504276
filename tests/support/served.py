"""An application behind a server on this machine, for what speaks HTTP: the command line."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from jackpot_service.app import Application
from tests.support.loop import begun_on_loop

LONGEST_S: Final = 30.0


@contextmanager
def served(application: Application, listening: socket.socket | None = None) -> Iterator[str]:
    """Serve an application, on a free port unless one is taken for it, until the block ends; yields its address."""
    settings = uvicorn.Config(
        application.asgi, ws="none", lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(settings)
    with listening or socket.create_server(("127.0.0.1", 0)) as taken:
        serving = begun_on_loop(server.serve([taken]))
        until = time.monotonic() + LONGEST_S
        while not server.started and time.monotonic() < until:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            serving.result(LONGEST_S)
