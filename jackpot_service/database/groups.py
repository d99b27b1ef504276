"""
Calls that arrive while others run share the next run: a commit (group commit), or a reading.

The first call to come runs at once, by itself; those that come meanwhile wait, and the next of them runs for all that
may go together. So an idle service answers as fast as ever, and a busy one commits and reads fewer times. A group
shares its round trips and its flush; each member has its own outcome.

Callers who ask again as soon as they are answered would fall into two halves that take turns. Where most do so, and the
loop runs the groups, the next group begins when all of the last one have asked again, or after a millisecond
(`callers.py`). Where they do not, nobody waits for them.

Calls wait in fair order (`fair_queue.py`). A call that may not go with those before it waits for a later group.

The caller may be a thread, which waits, or a coroutine, which lets others run meanwhile. Groups are run by a thread of
their own, or by the event loop if a coroutine's call is the first and the loop can run them. The one that runs them
goes on until nobody waits: a call that comes before it has left is in its next group, be it a thread or the loop.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

import structlog

from jackpot_service.database.async_executor import NeedsThread
from jackpot_service.database.callers import Callers
from jackpot_service.database.failures import Busy, HeldUp, OutcomeUnknown
from jackpot_service.database.fair_queue import FairQueue, Path
from jackpot_service.domain.errors import LedgerError, Unavailable

log = structlog.get_logger()

Command = TypeVar("Command")
Outcome = TypeVar("Outcome")

_RunOnLoop = Callable[[Sequence[Command]], Awaitable[Sequence[Outcome | LedgerError]]]

LONGEST_GROUP_S: Final = 0.5
"""How much longer than for its beginning a call waits for the end of its group; the database may be silent."""


SHARED_LATELY: Final = 16
"""Groups: who waited for one of the last so many still shares with others, though no call of it waits now."""

LONGEST_GATHERING_S: Final = 0.001
"""No timer of an event loop is shorter."""

TURNS_BETWEEN_GROUPS: Final = 3
"""Of the event loop: a body of a thousand bets takes two or three to be read. With one turn such groups had 3.6 bodies,
with three 5.8, and a tenth more bets were booked."""

GROUPS_A_TURN: Final = 16
"""So many groups a thread runs one after another; then whatever else waits for a thread has its turn."""


@dataclass(frozen=True, slots=True)
class _Gathering:
    """Until so many calls wait, the next group does not begin."""

    size: int
    is_over: asyncio.Future[None]

    def end(self) -> None:
        _wake_on(self.is_over.get_loop(), self.is_over)


@dataclass(slots=True, eq=False)
class _Member(Generic[Command, Outcome]):
    """A call that waits for its outcome, and how it is notified that it has one."""

    command: Command
    notify: Callable[[], object]
    outcome: Outcome | Exception | None = None
    has_left: bool = False


class Grouping(Generic[Command, Outcome]):
    """
    Runs commands in groups, one group at a time, in one of the `threads`, which others may use too, or on the loop.

    `run` takes the commands of a group and returns their outcomes in order: an answer, or the error that refuses one.
    `run_on_loop` does the same on an event loop; it raises NeedsThread if a thread has to do it, HeldUp if each has to
    be run alone, or OutcomeUnknown. `joining` makes for each group what takes its commands one after another, or leaves
    one to a later group; it takes the first. It is given how many share: the first names of their paths. None waits
    longer than `longest_wait_s` for its group to begin, and half a second more for its end: then `unfinished` is its
    outcome, whatever becomes of the group. `path_of` names the flow in which a command waits, `cost_of` says how much
    of its share the command uses.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Command]], Sequence[Outcome | LedgerError]],
        *,
        joining: Callable[[int], Callable[[Command], bool]],
        threads: Executor,
        longest_wait_s: float,
        run_on_loop: _RunOnLoop[Command, Outcome] | None = None,
        unfinished: Callable[[str], Unavailable] = OutcomeUnknown,
        path_of: Callable[[Command], Path] = lambda _: (),
        cost_of: Callable[[Command], float] = lambda _: 1.0,
    ) -> None:
        self._run = run
        self._run_on_loop = run_on_loop
        self._joining = joining
        self._threads = threads
        self._longest_wait_s = longest_wait_s
        self._unfinished = unfinished
        self._lock = threading.Lock()
        self._path_of = path_of
        self._cost_of = cost_of
        self._waiting: FairQueue[_Member[Command, Outcome]] = FairQueue()
        self._lately: deque[frozenset[str]] = deque(maxlen=SHARED_LATELY)
        self._callers = Callers()
        self._gathering: _Gathering | None = None
        self._is_running = False
        self._running: asyncio.Task[None] | None = None

    def submit(self, command: Command) -> Outcome:
        """
        Run a command, perhaps with others, and return its own outcome; the thread waits for it.

        Raises: the error that refuses it; Busy if its turn did not come; whatever `run` raised when it ran this
        command alone.
        """
        notified = threading.Event()
        member: _Member[Command, Outcome] = _Member(command, notified.set)
        if self._enter(member):
            self._threads.submit(self._run_groups)
        if not notified.wait(self._longest_wait_s):
            self._leave(member)
            if not notified.wait(LONGEST_GROUP_S):
                self._leave_group(member)
                notified.wait()
        return _outcome_of(member)

    async def submit_async(self, command: Command, *, ends_at: float = math.inf) -> Outcome:
        """
        Run a command as `submit` does; others of the loop run meanwhile. The call has to be answered at `ends_at`.

        Raises: as `submit`.
        """
        loop = asyncio.get_running_loop()
        notified: asyncio.Future[None] = loop.create_future()
        member: _Member[Command, Outcome] = _Member(command, partial(_wake_on, loop, notified))
        longest_wait_s = min(self._longest_wait_s, ends_at - time.monotonic())
        leaving = loop.call_later(longest_wait_s, self._leave_soon, loop, member)
        if self._enter(member):
            if self._run_on_loop is None:
                self._threads.submit(self._run_groups)
            else:
                self._running = loop.create_task(self._run_groups_on_loop(self._run_on_loop))
                self._running.add_done_callback(self._run_by_thread_if_cancelled)
        try:
            await notified
        finally:
            leaving.cancel()
        return _outcome_of(member)

    def _enter(self, member: _Member[Command, Outcome]) -> bool:
        """Enter the queue; returns whether the caller has to have it run."""
        path, cost = self._path_of(member.command), self._cost_of(member.command)
        with self._lock:
            self._waiting.add(member, path=path, cost=cost)
            self._callers.ask(path, now=time.monotonic())
            if self._gathering is not None and len(self._waiting) >= self._gathering.size:
                self._gathering.end()
            is_first = not self._is_running
            self._is_running = True
        return is_first

    def _leave_soon(self, loop: asyncio.AbstractEventLoop, member: _Member[Command, Outcome]) -> None:
        self._leave(member)
        loop.call_later(LONGEST_GROUP_S, self._leave_group, member)

    def _leave_group(self, member: _Member[Command, Outcome]) -> None:
        """Wait for a group no longer that has begun, and not ended."""
        with self._lock:
            if member.has_left:
                return
            member.has_left = True
        if member.outcome is None:
            member.outcome = self._unfinished("It took too long, and may yet be done.")
        member.notify()

    def _leave(self, member: _Member[Command, Outcome]) -> None:
        """Give up waiting, unless its group has begun."""
        with self._lock:
            if not self._waiting.remove(member, path=self._path_of(member.command)):
                return
            member.has_left = True
        member.outcome = Busy("Others hold the ledger for too long; nothing was written.")
        member.notify()

    def _run_groups(self) -> None:
        """Run groups until nobody waits, or it is the turn of others."""
        for _ in range(GROUPS_A_TURN):
            group = self._next_group()
            if not group:
                return
            with _notified(group):
                self._settle(group)
        self._threads.submit(self._run_groups)

    async def _run_groups_on_loop(self, run: _RunOnLoop[Command, Outcome]) -> None:
        """Run groups until nobody waits."""
        while group := self._next_group():
            with _notified(group):
                await self._settle_on_loop(run, group)
            await self._gather(group)

    async def _gather(self, answered: Sequence[_Member[Command, Outcome]]) -> None:
        """Let more calls come before the next group: the larger the groups, the fewer commits."""
        expected = self._note_answers(answered)
        for _ in range(TURNS_BETWEEN_GROUPS):  # Batches that came meanwhile are read.
            await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        with self._lock:
            if not self._callers.ask_again_at_once or len(self._waiting) >= expected:
                return
            gathering = self._gathering = _Gathering(expected, loop.create_future())
        timer = loop.call_later(LONGEST_GATHERING_S, gathering.end)
        try:
            await gathering.is_over
        finally:
            timer.cancel()
            self._gathering = None

    def _note_answers(self, answered: Sequence[_Member[Command, Outcome]]) -> int:
        """Note whose calls were answered; returns how many will wait when all of them have asked again."""
        now = time.monotonic()
        with self._lock:
            for member in answered:
                self._callers.answer(self._path_of(member.command), now=now)
            return len(self._waiting) + len(answered)

    def _run_by_thread_if_cancelled(self, running: "asyncio.Task[None]") -> None:
        """A task that is cancelled before it begins, or between two groups, runs no more; within a group it goes on."""
        if running.cancelled():
            self._threads.submit(self._run_groups)

    def _next_group(self) -> list[_Member[Command, Outcome]]:
        """Take the next group; none ends the running."""
        with self._lock:
            group = self._take_group()
            self._is_running = bool(group)
        return group

    def _take_group(self) -> list[_Member[Command, Outcome]]:
        """Take the first of the queue and, in its order, what may go with it."""
        if not self._waiting:
            return []
        names = frozenset(self._waiting.names)
        self._lately.append(names)
        takes = self._joining(len(names.union(*self._lately)))
        return self._waiting.take(lambda member: takes(member.command))

    def _settle(self, group: Sequence[_Member[Command, Outcome]]) -> None:
        """Give every member its outcome. If the group as a whole fails, each runs alone, so that none harms another."""
        try:
            _give(group, self._run([member.command for member in group]))
        except HeldUp as error:
            self._settle_alone(group, error)
        except Unavailable as error:
            _refuse(group, error)
        except Exception as error:  # noqa: BLE001  it is raised to the call that caused it
            self._settle_alone(group, error)

    async def _settle_on_loop(
        self, run: _RunOnLoop[Command, Outcome], group: Sequence[_Member[Command, Outcome]]
    ) -> None:
        """Settle a group as `_settle` does, on the loop as far as that is possible."""
        loop = asyncio.get_running_loop()
        try:
            _give(group, await run([member.command for member in group]))
        except NeedsThread:
            await loop.run_in_executor(self._threads, self._settle, group)
        except HeldUp as error:
            await loop.run_in_executor(self._threads, self._settle_alone, group, error)
        except Unavailable as error:
            _refuse(group, error)

    def _settle_alone(self, group: Sequence[_Member[Command, Outcome]], error: Exception) -> None:
        """Run each member by itself; a group of one keeps its error."""
        if len(group) == 1:
            group[0].outcome = error
            return
        for member in group:
            if not member.has_left:
                self._settle([member])


@contextmanager
def _notified(group: Sequence[_Member[Command, Outcome]]) -> Iterator[None]:
    """Notify every member of a group that it has its outcome, however the block ends that finds the outcomes."""
    try:
        yield
    except BaseException as error:
        log.critical("group-broken", exc_info=error)
    for member in group:
        if member.outcome is None and not member.has_left:
            member.outcome = OutcomeUnknown("Whoever ran the group was stopped.")
        with suppress(RuntimeError):  # The loop of somebody who has gone away may be closed.
            member.notify()


def _give(group: Sequence[_Member[Command, Outcome]], outcomes: Sequence[Outcome | LedgerError]) -> None:
    for member, outcome in zip(group, outcomes, strict=True):
        member.outcome = outcome


def _refuse(group: Sequence[_Member[Command, Outcome]], error: Unavailable) -> None:
    for member in group:
        member.outcome = type(error)(error.detail)


def _wake_on(loop: asyncio.AbstractEventLoop, notified: "asyncio.Future[None]") -> None:
    """Wake the coroutine that waits on a loop. To wake the loop, from elsewhere, takes three calls of the kernel."""
    if _running_loop() is loop:
        _wake(notified)
    else:
        loop.call_soon_threadsafe(_wake, notified)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _wake(notified: "asyncio.Future[None]") -> None:
    if not notified.done():  # The call that waited may have been stopped.
        notified.set_result(None)


def _outcome_of(member: _Member[Command, Outcome]) -> Outcome:
    """Return what a member was answered. Raises: what it was refused by."""
    outcome, member.outcome = member.outcome, None
    assert outcome is not None  # noqa: S101  narrows a type: its notifier has set it
    if not isinstance(outcome, Exception):
        return outcome
    try:
        raise outcome
    finally:
        del outcome  # An error that its own traceback holds would keep the request alive until the next collection.
