"""
The process that does a server's jobs: `jackpot jobs worker`, started again whenever it ends.

It has an interpreter and connections of its own, and gives way to all others, so that no bet waits for an export. Its
standard input is a pipe from here: if this process is killed, the pipe ends, and so does the runner.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

COMMAND: Final = (sys.executable, "-m", "jackpot_service.cli", "jobs", "worker", "--supervised")

OF_TERMINALS: Final = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGHUP})
"""The signals of a terminal to all its processes. Those that the service starts never take them: it ends them."""

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
LONGEST_STOP_S: Final = 10.0

log = structlog.get_logger()


@contextmanager
def job_runner() -> Iterator[None]:
    """
    Keep a runner while the block runs; it reads the environment, where the database's URL has to be.

    The runner never takes signals that the caller has blocked: those of terminals are.
    """
    keeper = _Keeper()
    keeper.start()
    try:
        yield
    finally:
        keeper.end()


class _Keeper(threading.Thread):
    """Starts the runner, waits for its end, pauses for longer each time, and starts it again."""

    def __init__(self) -> None:
        super().__init__(name="job runner's keeper", daemon=True)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while (process := self._start_runner()) is not None:
            with process:  # The pipe is closed when it has ended.
                process.wait()
            if self._over.is_set():
                return
            log.warning("job-runner-ended", status=process.returncode, starts_again_in_s=pause_s)
            self._over.wait(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def end(self) -> None:
        """Have the runner stop after the chunk that it is at, and wait for it."""
        with self._lock:
            self._over.set()
            process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(LONGEST_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self.join()

    def _start_runner(self) -> "subprocess.Popen[bytes] | None":
        """Start a runner unless all is over; under the lock, so that none is started that nobody would end."""
        with self._lock:
            if self._over.is_set():
                return None
            self._process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE)  # noqa: S603  our own program
            return self._process
