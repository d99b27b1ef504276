"""
How a long command shows how far it is, and how signals stop it.

On a terminal there is a bar, elsewhere a line now and then, on standard error.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import click

SECONDS_BETWEEN_LINES = 5.0

LEAST_PART = 100
"""Before one of so many parts is done, its rate says too little about the rest."""

LEAST_SECONDS = 1e-6
"""Two looks at the clock may see the same."""

OnCount = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much if anybody knows, and of what."""


@contextmanager
def shown_progress() -> Iterator[OnCount]:
    """Yield what to call as the work goes on; a command that is done at once shows nothing where there is no bar."""
    if sys.stderr.isatty() or os.environ.get("TTY_COMPATIBLE") == "1":  # As rich takes it, too.
        from jackpot_service.cli.bar import shown_bar  # noqa: PLC0415  a tenth of a second, which others do without

        with shown_bar() as advance:
            yield advance
        return
    last = began = time.monotonic()
    before: int | None = None

    def show(done: int, total: int | None, what: str) -> None:
        nonlocal last, began, before
        now = time.monotonic()
        if before is None:
            began, before = now, done
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            per_second = (done - before) / max(now - began, LEAST_SECONDS)
            click.echo(_line(done, total, what, per_second=per_second), err=True)

    yield show


def _line(done: int, total: int | None, what: str, *, per_second: float) -> str:
    """Say what is left at the rate since the work began. It is counted in parts that take about the same time."""
    if total is None:
        return f"{what}: {done:,}, {rate(per_second)}"
    is_known = per_second and done * LEAST_PART >= total
    left = f"{(total - done) / per_second:,.0f} s left" if is_known else "no telling yet how long it takes"
    return f"{what}: {done:,} of {total:,} ({100 * done // max(total, 1)} %), {rate(per_second)}, {left}"


def rate(per_second: float) -> str:
    """Say how fast something goes."""
    return f"{per_second:,.0f}/s"


def set_by_signals(stop: threading.Event, numbers: Iterable[signal.Signals]) -> None:
    """
    Have an event set by signals, in a thread.

    A handler runs within whatever the main thread is at. If that is `stop.wait`, which holds the event's lock for a
    moment, a `stop.set` of the handler would wait for this lock for ever. A `SimpleQueue` has no such moment.
    """
    received: SimpleQueue[int] = SimpleQueue()
    for number in numbers:
        signal.signal(number, lambda number, _: received.put(number))
    threading.Thread(target=_set_after, args=[received, stop], name="signals", daemon=True).start()


def _set_after(received: "SimpleQueue[int]", stop: threading.Event) -> None:
    received.get()
    stop.set()
