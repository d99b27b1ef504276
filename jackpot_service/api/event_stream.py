"""
Events for those who ask and for those who wait, on the event loop: who waits holds no thread and no connection.

While some wait, the process looks a few times a second how far the books go, once for all of them. Most entries are
batches of bets, which notify nobody: they are passed over for all who wait at once, and each reads only when there is
something for it. Nobody is woken by the database: NOTIFY takes a lock at every commit that all commits share.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from jackpot_service.api.asgi import Presence, by_thread
from jackpot_service.api.places import Caller, Places, Turns
from jackpot_service.api.recent import Recent
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import read
from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.principals import Principal
from jackpot_service.events.cursor import Cursor
from jackpot_service.events.entries import (
    Heads,
    heads,
    is_anybody_notified,
    is_reached,
    passed,
    require_reached,
    windows,
)
from jackpot_service.events.page import Page, events_page

PAGES_AT_ONCE: Final = 4
"""Pages that those who wait have read at a time in a process; each holds a thread and a connection for a while."""

LOOK_EVERY_S: Final = 0.25

READ_AGAIN_S: Final = 1.0
"""How long a listener is left alone after its page could not be read."""

log = structlog.get_logger()


class _Waiting:
    """One who has read all up to a cursor, and waits for more; `at` is a look up to which nothing notified anybody."""

    __slots__ = ("_cursor", "at", "presence", "woken")

    def __init__(self, cursor: Cursor, presence: Presence) -> None:
        self._cursor = cursor
        self.presence = presence
        self.at: Heads | None = None
        self.woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        presence.when_left = self.wake

    @property
    def cursor(self) -> Cursor:
        return self._cursor if self.at is None else passed(self._cursor, self.at)

    def has_read_all(self, reached: Heads) -> bool:
        """Whether it has read what there was at a look."""
        return self.at is reached or (self._cursor.begun is None and not windows(self.cursor, reached))

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class EventStream:
    """The events of a database. `longest_wait_s` is how long a page may take."""

    def __init__(self, reads: Reads, *, threads: Executor, longest_wait_s: float = 5.0) -> None:
        self._reads = reads
        self._longest_wait_s = longest_wait_s
        self._heads: Recent[Heads] = Recent(
            lambda _: self._look(), threads=threads, longest_wait_s=longest_wait_s, seconds=LOOK_EVERY_S
        )
        self._furthest = Heads({})
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(PAGES_AT_ONCE, "events")
        self._turns = Turns(Places("events", PAGES_AT_ONCE), longest_wait_s=longest_wait_s)
        self._waiting: set[_Waiting] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_ending = False

    def page(self, reader: Principal, after: Cursor | None, *, limit: int) -> Page:
        """
        Return what happened after a cursor; None: nothing, and the cursor of now.

        Raises: CursorAhead.
        """
        return self._page(reader, after, self._heads.read(""), limit=limit)

    def _page(self, reader: Principal, after: Cursor | None, reached: Heads, *, limit: int) -> Page:
        cursor = Cursor(reached.positions) if after is None else after
        is_behind = self._reads.replica is not None and not reached.has(cursor)
        require_reached(cursor, read(self._reads.primary, heads) if is_behind else reached)
        return self._read(reader, cursor, reached, limit=limit)

    async def page_on_loop(self, reader: Principal, after: Cursor | None, *, limit: int) -> Page:
        """As `page`, in a thread of those who wait. Raises: CursorAhead; Busy."""
        return await self._in_turn(reader, partial(self.page, reader, after, limit=limit))

    async def wait(
        self, reader: Principal, after: Cursor | None, presence: Presence, *, limit: int, wait_s: float
    ) -> Page:
        """
        Return what happened after a cursor; if that is nothing, wait so long for something.

        As soon as the reader has left, nobody waits. Raises: CursorAhead; Busy.
        """
        until = time.monotonic() + wait_s
        page = await self.page_on_loop(reader, after, limit=limit)
        while not (page.items or page.has_more or presence.has_left) and time.monotonic() < until:
            cursor = await self._beyond(page.next, presence, until=until)
            if self._is_over_for(presence):  # Nobody reads for a crowd that has gone.
                return Page((), cursor, has_more=False)
            page = await self._next_page(reader, cursor, limit=limit)
        return page

    async def follow(
        self, reader: Principal, first: Page, presence: Presence, *, limit: int, alive_every_s: float
    ) -> AsyncIterator[Page]:
        """
        Return page after page for as long as the reader is there; one without events at least so often.

        The first page was read before. While the books cannot be read, nothing is returned.
        """
        page = first
        yield page
        while not self._is_over_for(presence):
            cursor = page.next
            if not page.has_more:
                cursor = await self._beyond(cursor, presence, until=time.monotonic() + alive_every_s)
            try:
                page = await self._next_page(reader, cursor, limit=limit)
            except Unavailable as error:
                log.debug("events-not-read", code=error.code)
                await asyncio.sleep(READ_AGAIN_S)
            else:
                yield page

    def _is_over_for(self, presence: Presence) -> bool:
        return presence.has_left or self._is_ending

    def end(self) -> None:
        """Let nobody wait any more: the process is to end. On its loop."""
        self._is_ending = True
        for waiting in self._waiting:
            waiting.wake()

    async def _next_page(self, reader: Principal, cursor: Cursor, *, limit: int) -> Page:
        """Read on as far as the last look went, which may have been an instant ago."""
        reached = await self._reached()
        if not windows(cursor, reached):
            return Page((), cursor, has_more=False)
        return await self._in_turn(reader, partial(self._page, reader, cursor, reached, limit=limit))

    async def _in_turn(self, reader: Principal, ask: Callable[[], Page]) -> Page:
        ends_at = time.monotonic() + self._longest_wait_s
        turn = await self._turns.take(Caller.of(reader), ends_at=ends_at)
        try:
            return await by_thread(self._threads, ask, ends_at=ends_at)
        finally:
            turn.end()

    async def _beyond(self, cursor: Cursor, presence: Presence, *, until: float) -> Cursor:
        """Wait until there may be something after a cursor, or until an instant; return the cursor, moved on."""
        waiting = _Waiting(cursor, presence)
        self._waiting.add(waiting)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look_on())
        try:
            if not self._is_ending:
                await asyncio.wait({waiting.woken}, timeout=max(0.0, until - time.monotonic()))
        finally:
            self._waiting.discard(waiting)
        return waiting.cursor

    async def _look_on(self) -> None:
        """Look how far the books go for as long as somebody waits, and wake those for whom there is something."""
        try:
            before = await self._reached()
            while self._waiting and not self._is_ending:
                await asyncio.sleep(LOOK_EVERY_S)
                reached = await self._reached()
                await self._notify(before, reached)
                before = reached
        except Unavailable as error:
            log.debug("books-not-looked-at", code=error.code)
        finally:
            for waiting in self._waiting:  # They look for themselves.
                waiting.wake()

    async def _notify(self, before: Heads, reached: Heads) -> None:
        """Wake all for whom there is something, and let the others pass over what notifies nobody."""
        new = windows(Cursor(before.positions), reached)
        is_quiet = not new or not await self._is_anybody_notified(before, reached)
        for waiting in [*self._waiting]:
            if is_quiet and not waiting.presence.has_left and waiting.has_read_all(before):
                waiting.at = reached
            else:
                waiting.wake()

    async def _is_anybody_notified(self, before: Heads, reached: Heads) -> bool:
        look = partial(
            self._reads.read,
            partial(is_anybody_notified, before=before, reached=reached),
            holds=partial(is_reached, reached=reached),
        )
        return (await by_thread(self._threads, look, ends_at=time.monotonic() + self._longest_wait_s)).value

    async def _reached(self) -> Heads:
        return await self._heads.get_async("", ends_at=time.monotonic() + self._longest_wait_s)

    def _read(self, reader: Principal, after: Cursor, reached: Heads, *, limit: int) -> Page:
        if not windows(after, reached):
            return Page((), after, has_more=False, fresh_at=reached.fresh_at)
        page = partial(events_page, reader=reader, after=after, reached=reached, limit=limit)
        return self._reads.read(page, holds=partial(is_reached, reached=reached)).value

    def _look(self) -> Heads:
        """Look how far the books go. A replica may be behind an earlier look: what was there then is there for good."""
        reading = self._reads.read(heads)
        looked = replace(reading.value, fresh_at=reading.fresh_at)
        if self._reads.replica is None:
            return looked
        with self._lock:
            self._furthest = looked.further(self._furthest)
            return self._furthest
