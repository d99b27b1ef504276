"""Signals that stop a command."""

import signal
import threading
from collections.abc import Iterable
from queue import SimpleQueue


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
