"""
Whether the service can take bets now, found out apart from all calls: by a thread and a connection of its own.

However long the database is silent, this is known within two seconds; and it is asked at most once a second, however
many ask the service.
"""

import asyncio
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

import psycopg
import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.config.settings import Config
from jackpot_service.database import deadlines
from jackpot_service.database.clocks import ClockGuard
from jackpot_service.database.connections import create_engine
from jackpot_service.database.distribution import is_distributed
from jackpot_service.database.replica import Look, Replica, ReplicaState
from jackpot_service.database.transactions import Session, database_time, is_writable, read
from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.rounds import Month
from jackpot_service.records import changes
from jackpot_service.reports.gauges import months_ahead, sheet_ages, without_payout_tiers
from jackpot_service.schema.migrate import is_current

EMERGENCY_WARNING: Final = "emergency-approvals: one person alone may approve changes (jackpot db emergency)"

KEPT_S: Final = 1.0
LONGEST_LOOK_S: Final = 1.5
LONGEST_ANSWER_S: Final = 1.9

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ready:
    """The state of the service, and of the replica, if it has one; `warnings` stop nothing."""

    database_writable: bool = False
    migrations_current: bool = False
    clock_right: bool = False
    bets_accepted: bool = False
    on_several_machines: bool = False
    replica: Look | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether bets can be taken."""
        return self.database_writable and self.migrations_current and self.clock_right and self.bets_accepted

    @property
    def status(self) -> str:
        """Return the state in a word."""
        return "ready" if self.is_ready else "not-ready"


class Readiness:
    """Finds out whether a service can take bets."""

    def __init__(
        self,
        config: Config,
        url: sqlalchemy.URL,
        bets: BetGroups,
        guard: ClockGuard | None,
        clock: Callable[[], datetime],
        *,
        replica: Replica | None = None,
    ) -> None:
        own = replace(config, pool_size=1, pool_timeout_s=LONGEST_LOOK_S, request_timeout_s=LONGEST_LOOK_S)
        self._engine = create_engine(own, url.render_as_string(hide_password=False))
        self._config = config
        self._bets = bets
        self._guard = guard
        self._clock = clock
        self._replica = replica
        self._thread = ThreadPoolExecutor(1, "readiness")
        weakref.finalize(self, self._engine.dispose)
        self._looking: asyncio.Future[Ready] | None = None
        self._last: tuple[float, Ready] | None = None

    async def current(self) -> Ready:
        """Return what was found out in the last second, or is now; that nothing is known is found out in time too."""
        if self._last is not None and time.monotonic() - self._last[0] < KEPT_S:
            return self._last[1]
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().run_in_executor(self._thread, self.look)
        await asyncio.wait({self._looking}, timeout=LONGEST_ANSWER_S)
        return self._looking.result() if self._looking.done() else self._nothing_known()

    def look(self) -> Ready:
        """Find it out now; the calling thread waits."""
        began = time.monotonic()
        with deadlines.anew(LONGEST_LOOK_S):
            ready = self._look() if is_writable(self._engine) else self._nothing_known()
        self._last = began, ready
        return ready

    def _look(self) -> Ready:
        at = self._clock()
        is_at_revision = self._answer_or(lambda: is_current(self._engine), else_=False)
        return Ready(
            database_writable=True,
            migrations_current=is_at_revision,
            clock_right=self._answer_or(self._is_clock_right, else_=False),
            bets_accepted=not self._bets.are_failing,
            on_several_machines=is_distributed(self._engine),
            replica=self._last_of_replica(),
            warnings=(*self._warnings_of_replica(), *(self._warnings_of_books(at) if is_at_revision else ())),
        )

    def _nothing_known(self) -> Ready:
        return Ready(bets_accepted=not self._bets.are_failing, replica=self._last_of_replica())

    def _last_of_replica(self) -> Look | None:
        return None if self._replica is None else self._replica.last

    def _warnings_of_replica(self) -> Iterable[str]:
        last = self._last_of_replica()
        if last is not None and last.state is not ReplicaState.IN_USE:
            yield f"The replica is {last.state.value}: lists, reports and feeds are read at the primary."

    def _answer_or(self, question: Callable[[], T], *, else_: T) -> T:
        try:
            return question()
        except (Unavailable, SQLAlchemyError, psycopg.Error):
            return else_

    def _is_clock_right(self) -> bool:
        guard = self._guard
        return guard is None or read(self._engine, lambda session: guard.look(lambda: database_time(session)))

    def _warnings_of_books(self, at: datetime) -> Iterable[str]:
        stale_after = timedelta(seconds=self._config.rates_stale_after_s)

        def sheets(session: Session) -> list[str]:
            warnings = [sheet.warning(at=at, stale_after=stale_after) for sheet in sheet_ages(session, at=at)]
            return [warning for warning in warnings if warning is not None]

        def months(session: Session) -> list[str]:
            month = Month.of(at).later(1)
            is_missing = months_ahead(session, at=at) == 0
            return [f"Bets of {month} have no partition yet; run: jackpot db months"] if is_missing else []

        def switches(session: Session) -> list[str]:
            return [EMERGENCY_WARNING] if changes.is_emergency_on(session) else []

        def tiers(session: Session) -> list[str]:
            return [
                f"Jackpot {jackpot_id} has no payout tiers: every award is payable at once."
                for jackpot_id in without_payout_tiers(session)
            ]

        return [
            *self._answer_or(lambda: read(self._engine, tiers), else_=["The payout tiers could not be looked at."]),
            *self._answer_or(
                lambda: read(self._engine, switches),
                else_=["The switch of emergency approvals could not be looked at."],
            ),
            *self._answer_or(lambda: read(self._engine, sheets), else_=["The rate sheets could not be looked at."]),
            *self._answer_or(
                lambda: read(self._engine, months), else_=["The partitions of bets could not be looked at."]
            ),
        ]
