"""
Acts on an event loop: they ask the database without a thread, and others of the loop run while they wait for it.

An act is written as for a thread. It runs in a greenlet (as SQLAlchemy runs its own), and its pipelines wait on the
loop. An act that would wait otherwise, or fails, is left to a thread, which does all of it again: nothing was written.
"""

import asyncio
import select
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import psycopg
import sqlalchemy
from sqlalchemy.exc import DBAPIError
from sqlalchemy.util import await_, greenlet_spawn

from jackpot_service.database import deadlines
from jackpot_service.database.connections import LONGEST_KEPT_S, ONLY_PIPELINES
from jackpot_service.database.deadlines import DeadlinePassed, Patience
from jackpot_service.database.failures import HELD_UP, HeldUp, OutcomeUnknown, is_held_up
from jackpot_service.database.transactions import (
    DEFAULT_REQUEST_TIMEOUT_S,
    REQUEST_TIMEOUT_S,
    Session,
    attempt_by_pipelines,
    has_unread_message,
    is_suspect,
    roll_back,
    wait_by,
)
from jackpot_service.telemetry import trouble

T = TypeVar("T")


class NeedsThread(Exception):
    """An act was not done: a thread must do it."""


@dataclass(frozen=True, slots=True)
class _Pooled:
    session: Session
    opened_at: float


class AsyncExecutor:
    """
    Runs acts on the running event loop, each on one of so many connections that it keeps for them.

    One of the `threads` opens a connection, and rolls it back after a failure.
    """

    def __init__(self, engine: sqlalchemy.Engine, *, threads: Executor, most: int) -> None:
        self._engine = engine
        self._threads = threads
        self._longest_s = engine.get_execution_options().get(REQUEST_TIMEOUT_S, DEFAULT_REQUEST_TIMEOUT_S)
        self.most = most
        self._idle: list[_Pooled] = []
        self._places = threading.Semaphore(most)
        weakref.finalize(self, _close_all, self._idle)

    async def run(self, act: Callable[[Session], T]) -> T:
        """
        Run an act in a transaction and commit it.

        Raises: NeedsThread or HeldUp, and nothing was written; OutcomeUnknown.
        """
        pooled = self._take()
        try:
            with deadlines.within(self._longest_s):
                result: T = await greenlet_spawn(attempt_by_pipelines, pooled.session, act)
        except BaseException as error:
            self._threads.submit(self._take_back, pooled)
            if isinstance(error, OutcomeUnknown) or not isinstance(error, Exception):
                raise
            if is_held_up(error):
                trouble.note(error)
                raise HeldUp(HELD_UP) from error
            raise NeedsThread from error
        self._idle.append(pooled)
        return result

    def _take(self) -> _Pooled:
        if not self._idle:
            if self._places.acquire(blocking=False):
                self._threads.submit(self._open)
            raise NeedsThread
        pooled = self._idle.pop()
        is_old = time.monotonic() - pooled.opened_at > LONGEST_KEPT_S
        if is_old or is_suspect(pooled.session) or has_unread_message(pooled.session):
            self._threads.submit(self._close, pooled)
            raise NeedsThread
        return pooled

    def _open(self) -> None:
        try:
            session = self._engine.connect().execution_options(**{ONLY_PIPELINES: True})
            wait_by(session, _wait)
        except Exception as error:  # noqa: BLE001  the next call tries again, and its thread says what is wrong
            trouble.note(error)
            self._places.release()
            return
        self._idle.append(_Pooled(session, time.monotonic()))

    def _take_back(self, pooled: _Pooled) -> None:
        """Take back what an act that failed has done, so that the connection can be used again."""
        if roll_back(pooled.session):
            self._idle.append(pooled)
        else:
            self._close(pooled)

    def _close(self, pooled: _Pooled) -> None:
        self._places.release()
        _close_all([pooled])


def _close_all(idle: list[_Pooled]) -> None:
    while idle:
        with suppress(DBAPIError, psycopg.Error), idle.pop().session as session:
            session.invalidate()  # It does not go back to the pool, which may have been thrown away.


def _wait(descriptor: int, events: int, patience: Patience) -> int:
    """Wait on the loop until there is one of the events; returns which. Raises: DeadlinePassed."""
    ready: int = await_(_ready(descriptor, events, patience))
    return ready


async def _ready(descriptor: int, events: int, patience: Patience) -> int:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[int] = loop.create_future()
    loop.add_reader(descriptor, _set_ready, ready, select.POLLIN)
    if events & select.POLLOUT:
        loop.add_writer(descriptor, _set_ready, ready, select.POLLOUT)
    late = _Late(loop, ready, descriptor, events, patience)
    try:
        return await ready
    finally:
        late.cancel()
        loop.remove_reader(descriptor)
        if events & select.POLLOUT:
            loop.remove_writer(descriptor)


class _Late:
    """Ends a wait on the loop when its patience does."""

    __slots__ = ("_descriptor", "_events", "_loop", "_patience", "_ready", "_timer")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        ready: "asyncio.Future[int]",
        descriptor: int,
        events: int,
        patience: Patience,
    ) -> None:
        self._loop = loop
        self._ready = ready
        self._descriptor = descriptor
        self._events = events
        self._patience = patience
        self._timer = loop.call_later(patience.slice_s, self._look)

    def cancel(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def _look(self) -> None:
        if self._ready.done():
            return
        # A loop that was held up may run its timers first, also if the answer came long ago.
        if ready := deadlines.ready(self._descriptor, self._events):
            _set_ready(self._ready, ready)
            return
        try:
            self._patience.spend()
        except DeadlinePassed as error:
            self._ready.set_exception(error)
        else:
            self._timer = self._loop.call_later(self._patience.slice_s, self._look)


def _set_ready(ready: "asyncio.Future[int]", event: int) -> None:
    if not ready.done():
        ready.set_result(event)
