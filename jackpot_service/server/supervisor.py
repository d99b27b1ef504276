"""The supervisor of the workers, in the process of the command: uvicorn's, which starts them and replaces them."""

import ctypes
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

import structlog
from uvicorn import Config as Settings
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from jackpot_service.config.settings import Config
from jackpot_service.server.job_supervisor import OF_TERMINALS, job_runner
from jackpot_service.server.loop import Loop
from jackpot_service.server.protocol import KEPT_FOR_S, Connection
from jackpot_service.server.worker import LONGEST_END_S, application
from jackpot_service.telemetry import counters, logs

LONGEST_CALL_AT_THE_END_S: Final = 7
"""For the calls in progress, when a worker ends; it begins to count within two seconds."""

LONGEST_START_S: Final = 30
"""For a worker to begin, and to answer the supervisor: one that is stopped, or hangs as a whole, is replaced then."""

LONGEST_REPLY_S: Final = 0.25
"""For so long each look waits for a worker to say that it serves."""

LONGEST_LEAVE_S: Final = LONGEST_END_S + 1
"""From the signal to end until a worker is killed: its own alarm has ended it before, unless it is stopped."""

BETWEEN_LOOKS_S: Final = 0.05
"""While something is waited for."""

LONGEST_BETWEEN_LOOKS_S: Final = 5.0
"""The most that counts as a worker's silence between two looks: the supervisor may have been suspended itself."""

END_SIGNALS: Final = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})

BACKLOG: Final = 2048
"""Connections that wait until a worker takes them."""

_SO_ATTACH_FILTER: Final = 26
"""Of Linux; Python has no name for it."""

_DROP_FIRST_PACKETS: Final = (
    (0x30, 0, 0, 13),  # Load the byte of the TCP header that has the flags.
    (0x45, 0, 1, 0x02),  # If SYN is set, go on, else pass over one.
    (0x06, 0, 0, 0),  # Take nothing of the packet.
    (0x06, 0, 0, 0xFFFFFFFF),  # Take all of it.
)
"""Instructions of the kernel's packet filter (BPF)."""


log = structlog.get_logger()


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
    with (
        terminal_signals_held(),
        bound(host, port) as listener,
        counters.shared(),
        job_runner() if jobs else nullcontext(),
    ):
        supervisor = Supervisor(settings(workers), [listener])
        supervisor.run()
    if supervisor.failure is not None:
        raise ServerFailed(supervisor.failure)


@contextmanager
def terminal_signals_held() -> Iterator[None]:
    """
    Hold signals of terminals back until the supervisor takes them, so that all that has begun ends in order.

    Workers are born with these signals blocked, and leave it so.
    """
    resource_tracker.ensure_running()  # It would unblock signals again when the first worker starts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, OF_TERMINALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
        loop=f"{Loop.__module__}:{Loop.__qualname__}",
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
        super().__init__(config, sockets)
        self.failure: str | None = None
        self._silent_s: WeakKeyDictionary[SpawnProcess, float] = WeakKeyDictionary()
        self._looked_at = time.monotonic()
        self._passed_s = 0.0
        self._leaving: dict[Process, float] = {}
        self._serving: WeakSet[SpawnProcess] = WeakSet()
        self._had_terminal = _has_terminal()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have ended, or hang; end if one could not start or listen: the next could not either."""
        now = time.monotonic()
        self._passed_s, self._looked_at = min(now - self._looked_at, LONGEST_BETWEEN_LOOKS_S), now
        self._one_by_one(self._keep_alive)
        self._bury()
        listens = all(listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for listening in self.sockets)
        if any(worker.exitcode == STARTUP_FAILURE for worker in self.processes):
            self.failure = "a worker cannot start; the log says why"
        elif self._serving and not listens:  # uvloop says nothing of that.
            self.failure = "another program listens on the same port"
        if self.failure is not None:
            self.should_exit.set()

    def _keep_alive(self) -> None:
        """Look after one worker. It is not waited for, whatever it is at: SIGTERM may come."""
        (worker,) = self.processes
        silent_s = self._silent_s.get(worker.process, 0.0) + self._passed_s
        self._silent_s[worker.process] = silent_s
        if not worker.process.is_alive():
            super().keep_subprocess_alive()
        elif says_that_it_serves(worker):
            self._serving.add(worker.process)
            self._silent_s[worker.process] = 0.0
        elif silent_s > LONGEST_START_S:
            worker.kill()

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
        self._take_signals()
        super().handle_signals()

    def _take_signals(self) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, OF_TERMINALS)
        signal.pthread_sigmask(signal.SIG_BLOCK, OF_TERMINALS)

    def handle_quit(self) -> None:
        """End, as on Ctrl-C."""
        self.handle_int()

    def handle_hup(self) -> None:
        """Replace the workers, unless the signal says that the terminal was closed."""
        if self._had_terminal and not _has_terminal():
            self.handle_term()
        else:
            super().handle_hup()

    def handle_ttou(self) -> None:
        """Have one worker fewer, but keep one."""
        if self.processes_num > 1:
            self.processes_num -= 1
            self._part_with(self.processes.pop())

    def restart_all(self) -> None:
        """Replace the workers one by one, each when the next one serves; leave off as soon as it has to end."""
        for number, before in enumerate(self.processes):
            after = Process(self.config, self.sockets)
            after.start()
            if not self._comes_true(lambda: says_that_it_serves(after), of=after):  # noqa: B023  here and now
                after.kill()
                after.join()
                if not self._has_to_end():
                    log.error("worker-not-replaced", pid=before.pid)
                return
            self.processes[number] = after
            self._part_with(before)
            self._comes_true(lambda: before not in self._leaving, of=after)  # noqa: B023  here and now

    def _comes_true(self, question: Callable[[], bool], *, of: Process) -> bool:
        """Wait until something is so, unless a worker ends or takes too long, or this has to end."""
        until = time.monotonic() + LONGEST_START_S
        while not question():
            if self._has_to_end() or time.monotonic() > until or of.exitcode is not None:
                return False
            self._bury()
            time.sleep(BETWEEN_LOOKS_S)
        return True

    def _has_to_end(self) -> bool:
        self._take_signals()
        return not END_SIGNALS.isdisjoint(self.signal_queue)

    def _part_with(self, worker: Process) -> None:
        """Have a worker end that another has taken the place of."""
        worker.terminate()
        self._leaving[worker] = time.monotonic() + LONGEST_LEAVE_S

    def _bury(self) -> None:
        """Forget the workers that have ended as they had to, and kill those that do not."""
        for worker, until in tuple(self._leaving.items()):
            if worker.exitcode is not None:
                worker.join()
                del self._leaving[worker]
            elif time.monotonic() > until:
                worker.kill()

    def terminate_all(self) -> None:
        """Have the workers end. They still take the connections that wait; the kernel takes no more."""
        for listener in self.sockets:
            try:
                take_no_more(listener)
            except OSError as error:  # Those that connect meanwhile may be closed unanswered; the end does not wait.
                log.warning("connections-are-still-taken", detail=str(error))
        super().terminate_all()

    def join_all(self) -> None:
        """Wait for the workers to end, and kill those that do not."""
        until = time.monotonic() + LONGEST_LEAVE_S
        workers = (*self.processes, *self._leaving)
        for worker in workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.exitcode is None:
                worker.kill()
        for worker in workers:
            worker.join()


def says_that_it_serves(worker: Process) -> bool:
    """
    Ask a worker whether it serves, and first read its answers to earlier questions.

    Questions wait until the worker begins to answer them, and then it does not serve yet. If each look read one answer,
    a worker that begins late would be heard long after it serves, or be killed before. A late answer counts too.
    """
    late: list[bool] = []
    try:
        while worker.parent_conn.poll():
            late.append(worker.parent_conn.recv())
    except (OSError, EOFError):  # It has ended.
        return False
    return any(late) or worker.is_ready(timeout=LONGEST_REPLY_S)


def take_no_more(listener: socket.socket) -> None:
    """
    Have the kernel drop the first packet of each client that connects to a listening socket, in all processes.

    To close it would reset the connections that wait in it. A client that has an answer to its first packet may have
    sent a request already: it is taken. A client that connects meanwhile tries again after a second; by then nobody
    listens there, or the next service does.
    """
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in _DROP_FIRST_PACKETS))
    program = struct.pack("HP", len(_DROP_FIRST_PACKETS), ctypes.addressof(instructions))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def _has_terminal() -> bool:
    """Whether the process has a terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
