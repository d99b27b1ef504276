"""
Work that reports how far it is by calls, as an iterator of its reports.

It is done in a thread of its own, and ends where it reports next when nobody reads its reports any more.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

Report = Callable[[T], None]


class Abandoned(BaseException):
    """Nobody reads the reports any more. It is no `Exception`: work that goes on after errors must not go on."""


class _Ended:
    """The end of a work, with the error by which it ended; None if it ended well."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


@contextmanager
def reports_of(work: Callable[[Report[T]], None], *, cancel: Callable[[], None]) -> Iterator[Iterator[T]]:
    """
    Begin a work, which is given the function that it reports by, and yield the iterator of its reports.

    The iterator raises what the work has raised. When the block ends, the work is over: `cancel` is called, which ends
    what the work waits for, and the next report raises Abandoned in it.
    """
    reports: SimpleQueue[T | _Ended] = SimpleQueue()
    is_abandoned = threading.Event()

    def report(value: T) -> None:
        if is_abandoned.is_set():
            raise Abandoned
        reports.put(value)

    def run() -> None:
        try:
            work(report)
        except BaseException as error:  # noqa: BLE001  it is raised again where the reports are read
            reports.put(_Ended(error))
        else:
            reports.put(_Ended(None))

    thread = threading.Thread(target=run, name="work that reports", daemon=True)
    thread.start()
    try:
        yield _read(reports)
    finally:
        is_abandoned.set()
        if thread.is_alive():
            cancel()
        thread.join()


def _read(reports: "SimpleQueue[T | _Ended]") -> Iterator[T]:
    while not isinstance(report := reports.get(), _Ended):
        yield report
    if report.error is not None:
        raise report.error
