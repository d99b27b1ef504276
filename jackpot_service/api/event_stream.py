"""
Waiting for events: without a connection to the database, and without a turn of those who take turns for threads.

While some wait, the process looks a few times a second how far the books go, once for all of them, and each reads only
when they went further. Nobody is woken by the database: NOTIFY takes a lock at every commit that all commits share.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final

import sqlalchemy

from jackpot_service.api.places import Caller, Places
from jackpot_service.api.recent import Recent
from jackpot_service.database.transactions import read
from jackpot_service.domain.principals import Principal
from jackpot_service.events.cursor import Cursor
from jackpot_service.events.entries import Heads, heads, require_reached, windows
from jackpot_service.events.page import Page, events_page

MOST_WAITING: Final = 8
"""Calls of a process that wait for events at a time: each holds a thread, and these are there for it alone. While
callers share them anew, it may be three times as many."""

LOOK_EVERY_S: Final = 0.25


class EventStream:
    """The events of a database, for those who ask and for those who wait."""

    def __init__(
        self,
        engine: sqlalchemy.Engine,
        *,
        threads: Executor,
        longest_wait_s: float = 5.0,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._engine = engine
        self._heads: Recent[Heads] = Recent(
            lambda _: read(engine, heads), threads=threads, longest_wait_s=longest_wait_s, seconds=LOOK_EVERY_S
        )
        self.places = Places("events", most_waiting)
        self._is_ending = threading.Event()

    def page(
        self,
        reader: Principal,
        after: Cursor | None,
        *,
        limit: int,
        wait_s: float = 0,
        before_waiting: Callable[[], object] = lambda: None,
        has_left: Callable[[], bool] = lambda: False,
    ) -> Page:
        """
        Return what happened after a cursor (None: from now on); if that is nothing, wait so long for something.

        `before_waiting` is called as soon as there is a place to wait. As soon as the reader `has_left`, nobody waits.

        Raises: CursorAhead; Busy if it would have to wait and as many wait as may.
        """
        until = time.monotonic() + wait_s
        reached = self._heads.read("")
        cursor = Cursor(reached.positions) if after is None else after
        require_reached(cursor, reached)
        page = self._read(reader, cursor, reached, limit=limit)
        if page.items or page.has_more or not wait_s:
            return page
        with self.places.place(Caller.of(reader)):
            before_waiting()
            return self._wait(reader, page, limit=limit, until=until, has_left=has_left)

    def end(self) -> None:
        """Let nobody wait any more: the process is to end."""
        self._is_ending.set()

    def _wait(self, reader: Principal, page: Page, *, limit: int, until: float, has_left: Callable[[], bool]) -> Page:
        while not (page.items or page.has_more) and (left := until - time.monotonic()) > 0:
            if self._is_ending.wait(min(left, LOOK_EVERY_S)) or has_left():
                break
            page = self._read(reader, page.next, self._heads.get(""), limit=limit)
        return page

    def _read(self, reader: Principal, after: Cursor, reached: Heads, *, limit: int) -> Page:
        if not windows(after, reached):
            return Page((), after, has_more=False)
        return read(self._engine, lambda session: events_page(session, reader, after, reached, limit=limit))
