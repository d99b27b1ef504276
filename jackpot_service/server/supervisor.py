"""The supervisor of the workers, in the process of the command: uvicorn's, which starts them and replaces them."""

import ctypes
import os
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import nullcontext
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from uvicorn import Config as Settings
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from jackpot_service.config.settings import Config
from jackpot_service.server.job_supervisor import OF_TERMINALS, job_runner
from jackpot_service.server.protocol import KEPT_FOR_S, Connection
from jackpot_service.server.worker import LONGEST_END_S, application
from jackpot_service.telemetry import counters, logs

LONGEST_CALL_AT_THE_END_S: Final = 7
"""For the calls in progress, when a worker ends; it begins to count within two seconds."""

LONGEST_START_S: Final = 30
"""For a worker to begin, and to answer the supervisor: one that is stopped, or hangs as a whole, is replaced then."""

BACKLOG: Final = 2048
"""Connections that wait until a worker takes them."""

_SO_ATTACH_FILTER: Final = 26
"""Of Linux; Python has no name for it."""

_RETURN: Final = 0x06
"""BPF_RET | BPF_K: so many bytes of a packet are taken."""


class ServerFailed(Exception):
    """The server cannot serve, or cannot go on."""


def serve(url: str, *, host: str, port: int, workers: int, jobs: bool = True) -> None:
    """
    Serve until SIGINT or SIGTERM, and return when every worker has ended; jobs are done meanwhile, unless they are not.

    All processes read the environment, in which the URL is put here. Raises: ServerFailed.
    """
    os.environ["JACKPOT_DATABASE_URL"] = url
    config = Config.from_environment(os.environ)
    logs.configure(config.log_level)
    logs.configure_libraries(config.log_level)
    with bound(host, port) as listener, counters.shared(), job_runner() if jobs else nullcontext():
        supervisor = Supervisor(settings(workers), [listener])
        supervisor.run()
    if supervisor.failure is not None:
        raise ServerFailed(supervisor.failure)


def bound(host: str, port: int) -> socket.socket:
    """
    Make the socket that the workers share. The first that can answer listens; until then connections are refused.

    Raises: ServerFailed, for example if another program listens there.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise ServerFailed(message) from error
    return listener


def settings(workers: int) -> Settings:
    """Return how uvicorn is to serve; each worker makes an application of its own."""
    return Settings(
        application,
        factory=True,
        interface="asgi3",
        lifespan="on",
        loop="uvloop",
        http=Connection,
        ws="none",
        workers=workers,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(KEPT_FOR_S),
        timeout_graceful_shutdown=LONGEST_CALL_AT_THE_END_S,
        timeout_worker_healthcheck=LONGEST_START_S,
    )


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which ends in order whatever its workers and its terminal do."""

    def __init__(self, config: Settings, sockets: list[socket.socket]) -> None:
        resource_tracker.ensure_running()  # It would unblock signals again when the first worker starts.
        super().__init__(config, sockets)
        self.failure: str | None = None
        self._begun: WeakKeyDictionary[SpawnProcess, float] = WeakKeyDictionary()
        self._serving: WeakSet[SpawnProcess] = WeakSet()
        self._had_terminal = _has_terminal()

    def run(self) -> None:
        """Supervise until told to end. Workers are born with the signals of terminals blocked, and leave it so."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, OF_TERMINALS)
        try:
            super().run()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have ended, or hang; end if one could not start or listen: the next could not either."""
        self._one_by_one(self._keep_alive)
        listens = all(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for one in self.sockets)
        if any(worker.exitcode == STARTUP_FAILURE for worker in self.processes):
            self.failure = "a worker cannot start; the log says why"
        elif self._serving and not listens:  # uvloop says nothing of that.
            self.failure = "another program listens on the same port"
        if self.failure is not None:
            self.should_exit.set()

    def _keep_alive(self) -> None:
        """Look after one worker; while it starts it is not waited for, since it may end, and SIGTERM may come."""
        (worker,) = self.processes
        begun = self._begun.setdefault(worker.process, time.monotonic())
        hangs = time.monotonic() - begun > LONGEST_START_S
        if worker.process in self._serving or hangs or not worker.process.is_alive():
            super().keep_subprocess_alive()
        elif worker.is_ready(timeout=0):
            self._serving.add(worker.process)

    def _one_by_one(self, act: Callable[[], None]) -> None:
        """Act on each worker as if there were no other; whatever takes its place stands there."""
        workers = self.processes
        try:
            for number, worker in enumerate(workers):
                self.processes = [worker]
                act()
                workers[number : number + 1] = self.processes
        finally:
            self.processes = workers

    def handle_signals(self) -> None:
        """Take the signals that came, those of terminals now."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, OF_TERMINALS)
        signal.pthread_sigmask(signal.SIG_BLOCK, OF_TERMINALS)
        super().handle_signals()

    def handle_quit(self) -> None:
        """End, as on Ctrl-C."""
        self.handle_int()

    def handle_hup(self) -> None:
        """Replace the workers, unless the signal says that the terminal was closed."""
        if self._had_terminal and not _has_terminal():
            self.handle_term()
        else:
            super().handle_hup()

    def restart_all(self) -> None:
        """Replace the workers one by one, and leave off as soon as SIGTERM comes."""
        self._one_by_one(self._restart)

    def _restart(self) -> None:
        if signal.SIGTERM not in self.signal_queue:
            super().restart_all()

    def terminate_all(self) -> None:
        """Have the workers end. They still take the connections that wait; the kernel takes no more."""
        for listener in self.sockets:
            take_no_more(listener)
        super().terminate_all()

    def join_all(self) -> None:
        """Wait for the workers to end, and kill those that do not."""
        until = time.monotonic() + LONGEST_END_S + 1
        for process in self.processes:
            process.process.join(max(0.0, until - time.monotonic()))
            if process.exitcode is None:
                process.kill()
        super().join_all()


def take_no_more(listener: socket.socket) -> None:
    """
    Have the kernel drop what comes for a listening socket, in all processes that have it.

    To close it would reset the connections that wait in it. A client that connects meanwhile tries
    again after a second; by then nobody listens there, or the next service does.
    """
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", _RETURN, 0, 0, 0))
    program = struct.pack("HP", 1, ctypes.addressof(instruction))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def _has_terminal() -> bool:
    """Whether the process has a terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
