"""Which batches of bets are committed together: of one jackpot, each of another round, up to a number of bets."""

import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial

import sqlalchemy

from jackpot_service.api.asgi import by_thread
from jackpot_service.database.async_executor import AsyncExecutor, NeedsThread
from jackpot_service.database.distribution import is_distributed
from jackpot_service.database.failures import HeldUp
from jackpot_service.database.fair_queue import Path
from jackpot_service.database.groups import Grouping
from jackpot_service.database.transactions import clock_guard, transact
from jackpot_service.domain.errors import LedgerError, Unavailable
from jackpot_service.records import immutable
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.settings_in_force import OptimisticSettings
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group

MOST_BETS = 8000
"""Bets of a group: a worker's threads full of large batches share one commit; it takes some 30 ms."""

MOST_ON_LOOP = 2000
"""Bets of a group that the event loop runs itself, in some 8 ms of its time; a thread runs larger ones."""

FAILING_S = 3.0
"""For so long after bets failed the service says that it takes none, unless it has taken some since."""


MOST_BETS_SHARED = 2000
"""Bets of a group while several casinos share its jackpot: no more than the event loop runs itself."""

COST_OF_A_BATCH = 100.0
"""In bets: what it takes to read a call, and to answer it."""

MOST_REMEMBERED = 100_000
"""Tables whose jackpot is remembered; it never changes."""

Groups = Grouping[AcceptBets, BetsAccepted]


class BetGroups:
    """The batches of bets of one process, on their way to a commit; those of different jackpots do not meet."""

    def __init__(
        self, engine: sqlalchemy.Engine, *, threads: Executor, longest_wait_s: float, most_on_loop: int
    ) -> None:
        self._engine = engine
        self._threads = threads
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()
        self._optimistic_settings = OptimisticSettings()
        self._async_executor = AsyncExecutor(engine, threads=threads, most=most_on_loop)
        self._guard = clock_guard(engine)
        self._failed_at: float | None = None
        self._jackpot_of: dict[str, str] = {}
        self._groups: defaultdict[str, Groups] = defaultdict(self._new_groups)

    def accept(self, command: AcceptBets) -> BetsAccepted:
        """
        Book a batch, perhaps together with others; it is committed when this returns.

        Raises: what `accept_group` refuses a batch by; Busy if its turn does not come.
        """
        return self._groups_of(self._jackpot_of.get(command.table_id) or self._find_jackpot(command)).submit(command)

    async def accept_async(self, command: AcceptBets, *, ends_at: float = math.inf) -> BetsAccepted:
        """
        Book a batch as `accept` does; others of the loop run meanwhile. The call has to be answered at `ends_at`.

        Raises: as `accept`.
        """
        jackpot_id = self._jackpot_of.get(command.table_id)
        if jackpot_id is None:
            jackpot_id = await by_thread(self._threads, partial(self._find_jackpot, command), ends_at=ends_at)
        return await self._groups_of(jackpot_id).submit_async(command, ends_at=ends_at)

    def _groups_of(self, jackpot_id: str) -> Groups:
        with self._lock:
            return self._groups[jackpot_id]

    def _find_jackpot(self, command: AcceptBets) -> str:
        _, jackpot_id = transact(
            self._engine, lambda session: immutable.table_with_jackpot(session, command.principal, command.table_id)
        )
        if len(self._jackpot_of) < MOST_REMEMBERED:
            self._jackpot_of[command.table_id] = jackpot_id
        return jackpot_id

    def _new_groups(self) -> Groups:
        return Grouping(
            self._run,
            joining=Joining,
            threads=self._threads,
            longest_wait_s=self._longest_wait_s,
            run_on_loop=self._run_on_loop,
            path_of=_path_of,
            cost_of=_cost_of,
        )

    @property
    def are_failing(self) -> bool:
        """Whether the last group failed for want of the database, a moment ago."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < FAILING_S

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note whether a group fails for want of the database; what others hold is no such want."""
        try:
            yield
        except (HeldUp, NeedsThread):
            raise
        except Unavailable:
            self._failed_at = time.monotonic()
            raise
        self._failed_at = None

    def _run(self, commands: Sequence[AcceptBets]) -> tuple[BetsAccepted | LedgerError, ...]:
        with self._noted():
            return transact(
                self._engine,
                lambda session: accept_group(session, commands, self._optimistic_settings, may_expect=False),
            )

    async def _run_on_loop(self, commands: Sequence[AcceptBets]) -> tuple[BetsAccepted | LedgerError, ...]:
        if sum(len(command.bets) for command in commands) > MOST_ON_LOOP:
            raise NeedsThread
        if self._guard is not None and not self._guard.agrees():
            raise NeedsThread  # It compares the clocks.
        with self._noted():
            return await self._async_executor.run(
                lambda session: accept_group(
                    session, commands, self._optimistic_settings, may_expect=not is_distributed(session)
                )
            )


def _path_of(command: AcceptBets) -> Path:
    """Batches share a jackpot by casino, key and table, in this order."""
    return command.principal.casino_id or "", command.principal.name, command.table_id


def _cost_of(command: AcceptBets) -> float:
    return COST_OF_A_BATCH + len(command.bets)


class Joining:
    """
    Takes the batches of a group.

    While several casinos share a jackpot its groups are small: a batch that comes while one runs waits for its end.
    """

    def __init__(self, sharing: int = 1) -> None:
        self._most = MOST_BETS if sharing <= 1 else MOST_BETS_SHARED
        self._names: set[RoundName] = set()
        self._bets = 0

    def __call__(self, command: AcceptBets) -> bool:
        """Take a batch, unless an earlier one of its round was taken or left, or the bets would be too many."""
        name = command.name
        if name in self._names:
            return False
        is_first = not self._names
        self._names.add(name)
        bets = self._bets + len(command.bets)
        if bets > self._most and not is_first:
            return False
        self._bets = bets
        return True
