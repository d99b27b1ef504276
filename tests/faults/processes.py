"""The processes of a running service, as the kernel knows them."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.faults.service import Service

LONGEST_WAIT_S = 60
OF_STANDSTILL = signal.SIGALRM
"""A worker takes it from when it has all it needs to serve; SIGTERM it takes as soon as it begins to load that."""


def workers(service: Service) -> set[int]:
    """The processes that serve."""
    assert service.process is not None
    return workers_of(service.process.pid)


def workers_of(supervisor: int) -> set[int]:
    """The processes that a supervisor started to serve."""
    return {pid for pid in children(supervisor) if b"multiprocessing.spawn" in command_of(pid)}


def all_workers(service: Service) -> set[int]:
    """Those that serve, once there are as many as there are to be, and each takes connections."""

    def are_all_there() -> bool:
        pids = serving(service)
        return len(pids) == service.workers and all(is_caught(OF_STANDSTILL, by=pid) for pid in pids)

    wait_until(are_all_there)
    return workers(service)


def serving(service: Service) -> set[int]:
    """The workers that have begun to serve: from then on they end in order."""
    return {pid for pid in workers(service) if is_caught(signal.SIGTERM, by=pid)}


def is_caught(number: signal.Signals, *, by: int) -> bool:
    """Whether a process has a way of its own to take a signal."""
    try:
        (caught,) = re.findall(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{by}/status").read_text(), re.MULTILINE)
    except (OSError, ValueError):  # It has ended meanwhile.
        return False
    return bool(int(caught, 16) >> (number - 1) & 1)


def wait_until_program_runs(pid: int) -> None:
    """Wait until the program `jackpot` itself takes signals: before, it is the interpreter that Ctrl-C ends."""
    wait_until(lambda: is_caught(signal.SIGINT, by=pid))
    # Where this looked away meanwhile, the program has its own way to take signals by now.
    wait_until(lambda: not is_caught(signal.SIGINT, by=pid) or is_caught(signal.SIGTERM, by=pid))


def children(parent: int) -> set[int]:
    return {pid for pid in _pids() if _stat(pid)[1:2] == [str(parent)]}


def pids_of_session(session: int) -> set[int]:
    """Every process that was started in a session and is not over."""
    return {pid for pid in _pids() if (stat := _stat(pid)) and stat[3] == str(session) and stat[0] != "Z"}


def is_over(pid: int) -> bool:
    """Whether a process has ended, though its parent may not know it yet."""
    return _stat(pid)[:1] in ([], ["Z"])


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""


def resident_bytes(pid: int) -> int:
    """How much memory a process holds."""
    (kibibytes,) = re.findall(r"^VmRSS:\s*(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(kibibytes) * 1024


@contextmanager
def killed_at_a_failure(session: int) -> Iterator[None]:
    """Have no process of a session outlive a failure: the tests that follow could not listen on its port."""
    try:
        yield
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(session, signal.SIGKILL)
        raise


def wait_until(it_is_so: Callable[[], object], within_s: float = LONGEST_WAIT_S) -> None:
    until = time.monotonic() + within_s
    while not it_is_so():
        assert time.monotonic() < until, "it did not come to pass in time"
        time.sleep(0.005)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """The state of a process, its parent, its group, its session, and more; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
