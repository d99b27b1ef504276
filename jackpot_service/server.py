"""
Serving: gunicorn's supervisor and its workers, beside whoever serves.

`serve` starts the supervisor as a process of its own and ends it in order. A supervisor forks, and waits for every
process that ends: both would do harm where a database and a job runner were started.
"""

import logging.config
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from jackpot_service import counters, logs
from jackpot_service.app import Application
from jackpot_service.beside import job_runner
from jackpot_service.config import Config
from jackpot_service.worker import LONGEST_HEAD, Worker, application

LONGEST_END_S: Final = 10
"""Until a worker that was told to end is killed."""

LONGEST_CALL_AT_THE_END_S: Final = 7
"""For the calls in progress, when a worker is told to end; it begins to count within two seconds."""

LONGEST_STANDSTILL_S: Final = 60
"""A worker that says nothing for so long is killed, and another takes its place."""

KEPT_FOR_S: Final = 75
"""For how long a connection without a call is kept: a second more than what proxies usually keep theirs for."""


class ServerFailed(Exception):
    """The server ended by itself."""


def serve(url: str, *, host: str, port: int, workers: int, jobs: bool = True) -> None:
    """
    Serve until SIGINT or SIGTERM, and return when every worker has ended; jobs are done beside, unless they are not.

    All processes read the environment, in which the URL is put here. Raises: ServerFailed.
    """
    os.environ["JACKPOT_DATABASE_URL"] = url
    command = (sys.executable, "-m", "jackpot_service.server", host, str(port), str(workers), str(os.getpid()))
    with counters.together(), job_runner() if jobs else nullcontext(), _Ending() as ending:
        status = ending.wait(_started(command))
    if status != 0:
        message = f"The server ended with status {status}."
        raise ServerFailed(message)


def _started(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a program for which Ctrl-C is nothing from its beginning: it is told by other means."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(command)  # noqa: S603  our own program
    finally:
        signal.signal(signal.SIGINT, handler)


class _Ending(AbstractContextManager["_Ending"]):
    """While it lasts, SIGINT and SIGTERM end in order the process that is waited for."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_told = False
        self._before = {number: signal.signal(number, self._tell) for number in (signal.SIGINT, signal.SIGTERM)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, process: "subprocess.Popen[bytes]") -> int:
        """Wait for the end of a process; 0 if it ended because it was told to."""
        self._process = process
        if self._is_told:
            process.terminate()
        status = process.wait()
        return 0 if self._is_told else status

    def _tell(self, *_: object) -> None:
        self._is_told = True
        if self._process is not None:
            self._process.terminate()


class _Lines(Logger):
    """What gunicorn logs, as lines of the service's; it logs no calls."""

    access_log_enabled = False

    def setup(self, cfg: Any) -> None:  # noqa: ANN401  as the base
        """Set up logging."""
        self.cfg = cfg
        logging.config.dictConfig(logs.of_libraries(cfg.loglevel))


class _Server(BaseApplication):
    """How gunicorn is to serve; each worker makes an application of its own."""

    def __init__(self, config: Config, host: str, port: int, workers: int) -> None:
        self._settings = {
            "bind": f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            "workers": workers,
            "worker_class": Worker,
            "asgi_loop": "uvloop",
            "asgi_lifespan": "off",
            "http_parser": "fast",
            "limit_request_line": LONGEST_HEAD,
            "limit_request_field_size": LONGEST_HEAD,
            "forwarded_allow_ips": "",
            "secure_scheme_headers": {},
            "keepalive": KEPT_FOR_S,
            "timeout": LONGEST_STANDSTILL_S,
            "graceful_timeout": LONGEST_END_S,
            "control_socket_disable": True,
            "reuse_port": True,  # Each worker has clients of its own; one that is busy is not given those of another.
            "post_fork": _begin,
            "loglevel": config.log_level,
            "logger_class": _Lines,
        }
        super().__init__()

    def load_config(self) -> None:
        """Tell gunicorn its settings."""
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self) -> Application:
        """Make a worker's application."""
        return application()


def _begin(supervisor: "_Supervisor", worker: Worker) -> None:
    """Begin as a worker, which takes signals as usual: it has nothing in progress; the supervisor's way loses them."""
    supervisor.has_begun = True
    worker.cfg.set("graceful_timeout", LONGEST_CALL_AT_THE_END_S)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


class _Supervisor(Arbiter):
    """The supervisor of the workers; it ends with the process that started it."""

    def __init__(self, server: _Server, parent: int) -> None:
        super().__init__(server)
        self._parent = parent
        self.has_begun = False  # Of a worker's copy.

    def init_signals(self) -> None:
        """Leave Ctrl-C to the parent, which says SIGTERM: two signals would be taken for impatience."""
        super().init_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def spawn_worker(self) -> int:
        """Start a worker; that it is to end reaches it also while it has not said yet how it takes it."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            pid: int = super().spawn_worker()
        except SystemExit as end:
            if not self.has_begun:  # It cannot listen; nor could the next.
                raise SystemExit(self.WORKER_BOOT_ERROR) from end
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return pid

    def murder_workers(self) -> None:
        """Look, every second, after workers that stand still; and whether anybody is left to be told to end by."""
        if os.getppid() != self._parent:
            raise StopIteration
        super().murder_workers()


def main() -> None:
    """Supervise workers: `python -m jackpot_service.server HOST PORT WORKERS PARENT`; `serve` does."""
    host, port, workers, parent = sys.argv[1:]
    config = Config.from_environment(os.environ)
    logs.configure(config.log_level)
    _Supervisor(_Server(config, host, int(port), int(workers)), int(parent)).run()


if __name__ == "__main__":
    main()
