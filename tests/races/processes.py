"""Running acts at once in real processes, each with an engine of its own on the same database."""

import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import BrokenBarrierError
from typing import Any, Protocol, TypeVar

import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine

CONFIG = Config(
    pool_size=12, statement_timeout_ms=30_000, lock_timeout_ms=30_000, pool_timeout_s=30.0, request_timeout_s=60.0
)
"""Patient, so that a race that is lost shows as a deadlock or as wrong books, and never hides behind `Busy`."""

LONGEST_RACE_S = 50.0
LONGEST_GOODBYE_S = 5.0
LATE = "another process of the race did not come to the gate"

_CONTEXT = multiprocessing.get_context("forkserver")
# Each process comes from one that has imported all this, and has no connection: to import it anew takes a second.
_CONTEXT.set_forkserver_preload(["pytest", "jackpot_service.app", "tests.races.scene", "tests.support.world"])

T = TypeVar("T")


class Gate(Protocol):
    """Where all wait for the last: a barrier of processes."""

    def wait(self, timeout: float | None = None) -> int: ...

    def abort(self) -> None: ...

    @property
    def n_waiting(self) -> int: ...

    @property
    def broken(self) -> bool: ...


@dataclass(frozen=True)
class Racer:
    """What an act of a race gets: its process's engine, and the gate at which all acts may meet, again and again."""

    engine: sqlalchemy.Engine
    gate: Gate

    def meet(self) -> None:
        self.gate.wait(LONGEST_RACE_S)

    def is_to_go_on_until(self, other_racers: int) -> bool:
        """Tell whether to go on: until so many others wait at the gate, or one of them fails."""
        return self.gate.n_waiting < other_racers and not self.gate.broken


def race(url: str, *acts: Callable[[Racer], object], longest_s: float = LONGEST_RACE_S) -> list[Any]:
    """Run each act in a process of its own, all let go at once; returns what they returned, in the order given."""
    gate = _CONTEXT.Barrier(len(acts))
    until = time.monotonic() + longest_s
    with _ended() as processes:
        receivers = []
        for act in acts:
            receiver, sender = _CONTEXT.Pipe(duplex=False)
            process = _CONTEXT.Process(target=_run, args=(url, act, gate, sender), daemon=True)
            processes.append(process)
            process.start()
            sender.close()
            receivers.append(receiver)
        outcomes = [_outcome(receiver, until) for receiver in receivers]
        failures = sorted((report for is_result, report in outcomes if not is_result), key=LATE.__eq__)
        assert not failures, f"a process of the race failed:\n{failures[0]}"
        return [report for _, report in outcomes]


@contextmanager
def _ended() -> Iterator[list[BaseProcess]]:
    """Let the processes of a race end by themselves if all went well, and end them otherwise."""
    processes: list[BaseProcess] = []
    try:
        yield processes
        for process in processes:
            process.join(LONGEST_GOODBYE_S)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _outcome(receiver: Connection, until: float) -> tuple[bool, Any]:
    """Wait for what a process tells: whether its act ended well, and what it returned, or what went wrong."""
    assert receiver.poll(max(0.0, until - time.monotonic())), "a process of the race did not end in time"
    try:
        outcome: tuple[bool, Any] = receiver.recv()
    except EOFError:
        return False, "it ended without a word; see its standard error"
    return outcome


def _run(url: str, act: Callable[[Racer], object], gate: Gate, sender: Connection) -> None:
    engine = create_engine(CONFIG, url)
    try:
        engine.connect().close()
        gate.wait(LONGEST_RACE_S)
        sender.send((True, act(Racer(engine, gate))))
    except BrokenBarrierError:
        sender.send((False, LATE))
    except BaseException:  # noqa: BLE001  the parent tells it
        gate.abort()
        sender.send((False, traceback.format_exc()))
    finally:
        engine.dispose()


def in_threads(acts: Sequence[Callable[[], T]], *, threads: int) -> list[T]:
    """Run acts in threads of this process; returns what they returned, in the order given."""
    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(act) for act in acts]]
