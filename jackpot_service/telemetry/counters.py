"""
Counters of named events, for `/metrics`: one number for the service, counted by all of its processes.

    counters.count("jackpot_database_errors", kind="disk-full")

Every counter stands in `COUNTED`, with all the values that its labels take, so that each series is there from the start
at 0. Prometheus sees no increase in a series whose first value is 1. A label never takes what a caller sends.

`shared()` is entered once, by the process that starts the others; see docs/decisions/server.md.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus-client hears, when it is imported, that several processes count."""

_PREFIX: Final = "jackpot-counters-"


@dataclass(frozen=True, slots=True)
class Counted:
    """The meaning of a counter, in a sentence, and the values that each of its labels takes."""

    says: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


CALLS_LIMITED: Final = "jackpot_calls_limited"
CALLS_TURNED_AWAY: Final = "jackpot_calls_turned_away"
DATABASE_ERRORS: Final = "jackpot_database_errors"
DEADLINES_PASSED: Final = "jackpot_deadlines_passed"
REPLICA_READS: Final = "jackpot_replica_reads"
SIGN_INS_REFUSED: Final = "jackpot_sign_ins_refused"
DISK_FULL_AT: Final = "jackpot_disk_full_at_seconds"

COUNTED: Final[Mapping[str, Counted]] = {
    CALLS_LIMITED: Counted(
        "Calls answered 429, by the limit: of a key, or of an address.", {"limit": ("address", "key")}
    ),
    CALLS_TURNED_AWAY: Counted(
        "Calls answered 503, by what was full.",
        {"what": ("bets", "bytes of bodies", "calls", "events", "listeners", "reports")},
    ),
    DATABASE_ERRORS: Counted(
        "Statements that the database refused or interrupted, by the reason.",
        {
            "kind": (
                "cancelled",
                "connection-lost",
                "disk-full",
                "held-up",
                "no-connection",
                "not-writable",
                "outcome-unknown",
                "pool-exhausted",
                "sign-in-refused",
                "too-few-resources",
                "unexpected",
            )
        },
    ),
    DEADLINES_PASSED: Counted(
        "Waits for the database that took too long, by what was waited for.", {"exchange": ("connect", "statement")}
    ),
    REPLICA_READS: Counted(
        "Reads meant for a replica, by their outcome; the primary answers all but `answered`.",
        {"outcome": ("answered", "away", "behind", "broken-off", "foreign", "not-reached", "refused")},
    ),
    SIGN_INS_REFUSED: Counted("Calls with a key or a token that is not in force, or without one.", {}),
}
"""Each counter by its name, to which Prometheus' format adds `_total`."""

INSTANTS: Final[Mapping[str, str]] = {
    DISK_FULL_AT: "When the database last refused to write because its disk was full; 0 if it never has.",
}
"""Each instant that is kept, by its name: when something last happened, in seconds since 1970."""


def _registered() -> tuple[CollectorRegistry, Mapping[str, Counter], Mapping[str, Gauge]]:
    disable_created_metrics()  # type: ignore[no-untyped-call]  # When a process began to count says nothing about the service.
    registry = CollectorRegistry()
    counters = {}
    for name, counted in COUNTED.items():
        counters[name] = Counter(name, counted.says, tuple(counted.labels), registry=registry)
        if counted.labels:
            for values in product(*counted.labels.values()):
                counters[name].labels(*values)
    instants = {name: Gauge(name, says, registry=registry, multiprocess_mode="max") for name, says in INSTANTS.items()}
    return registry, counters, instants


_REGISTRY, _COUNTERS, _INSTANTS = _registered()


def count(name: str, /, **labels: str) -> None:
    """Count one more. Raises: KeyError, ValueError if there is no such counter, label or value."""
    counter, counted = _COUNTERS[name], COUNTED[name]
    for label, value in labels.items():
        if value not in counted.labels[label]:
            raise ValueError(f"{name} has no {label}={value!r}")
    (counter.labels(**labels) if counted.labels else counter).inc()


def stamp(name: str) -> None:
    """Keep that something happens now. Raises: KeyError if there is no such instant."""
    _INSTANTS[name].set(time.time())


def seconds_since(name: str) -> float:
    """Return how long ago something last happened, in any of the processes. Raises: KeyError if it is not kept."""
    values = {sample.name: sample.value for family in collector().collect() for sample in family.samples}
    return time.time() - values[name]


def collector() -> Collector:
    """Return what collects the counters of all processes that share them; those of this one alone if it shares none."""
    shared_by = os.environ.get(DIRECTORY)
    if shared_by is None or not Path(shared_by).is_dir():  # It is gone when the process that made it was killed.
        return _REGISTRY
    return MultiProcessCollector(None)  # type: ignore[no-untyped-call]


@contextmanager
def shared() -> Iterator[None]:
    """
    Have the processes that are started in the block share their counters; they begin at 0.

    Their numbers are in files of a directory in memory: of a full disk, writing to such a file would end the process.
    The directory is removed at the end; that of a process that was killed, by the next one.
    """
    place = _place()
    for directory in place.glob(f"{_PREFIX}*"):
        _remove_if_left(directory)
    directory, lock = _made(place)
    before = os.environ.get(DIRECTORY)
    os.environ[DIRECTORY] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ[DIRECTORY]
        else:
            os.environ[DIRECTORY] = before
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def _made(place: Path) -> tuple[Path, int]:
    """Make a directory and lock it; another service that starts may have taken it for one that was left before."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        with suppress(FileNotFoundError):
            lock = os.open(directory, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if directory.is_dir():
                return directory, lock
            os.close(lock)


def _place() -> Path:
    in_memory = Path("/dev/shm")  # noqa: S108  the directory is made by mkdtemp, for us alone
    return in_memory if os.access(in_memory, os.W_OK) else Path(tempfile.gettempdir())


def _remove_if_left(directory: Path) -> None:
    """Remove a directory whose process has ended: the kernel let go of its lock then."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # Another's, or gone by now.
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)
