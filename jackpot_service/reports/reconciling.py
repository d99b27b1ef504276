"""
Reconciling days, an eighth at a time, each when it is over: a report then has only the edges of its period to read.

The last eighth of a day is read though nothing was booked in it. With it the day's figures are summed over its stripes.
"""

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Final

import sqlalchemy
import structlog
from sqlalchemy import text

from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.ledger import days, instants
from jackpot_service.records import checkpoints
from jackpot_service.records.checkpoints import DayPart, DayToReconcile, ReconciledDay
from jackpot_service.reports.finance import reconciled_sums
from jackpot_service.reports.finance.period import DAY, EIGHTH, Part, begin_of, begin_of_eighth
from jackpot_service.reports.finance.reconciled_sums import Sum, added_up
from jackpot_service.reports.making import resolve

AFTER: Final = timedelta(hours=1)
"""How long an eighth has been over when it is read: by then busy books are past it, and nothing is locked for it."""

LAST_EIGHTH: Final = DAY // EIGHTH - 1

SLICE: Final = 20_000
"""About so many entries are read between two looks at whether to stop: a second's work."""

LONGEST_REST_S: Final = 2.0
"""It rests as long as it worked on the last day, but no longer than this: a job waits for it."""

LOOK_EVERY_S: Final = 30.0
"""How long it looks for none after it found none: they come eight times a day, and a look is in the way of bets."""

FIRST_PAUSE_S: Final = 60.0
"""How long a jackpot is left alone of which a day could not be read; each time twice as long, up to the longest."""

LONGEST_PAUSE_S: Final = 3600.0

log = structlog.get_logger()

_IS_ALONE = text("SELECT pg_try_advisory_xact_lock(hashtext('reconciling'))")

_NOW = text("SELECT clock_timestamp()")


class DayUnread(Exception):
    """An eighth of a day could not be read; the cause says why."""

    def __init__(self, day: DayToReconcile) -> None:
        self.day = day
        super().__init__(f"{day.jackpot_id}, {begin_of(day.day, day.eighth)}")


def reconcile_next(
    engine: sqlalchemy.Engine,
    *,
    now: datetime | None = None,
    without: Collection[str] = (),
    stop: threading.Event | None = None,
) -> DayToReconcile | None:
    """
    Read the first eighth that waits, of all jackpots but some, and store its sums; None if there was none to store.

    Of several processes one does it, under a lock until the sums are stored. It is over by the database's clock,
    unless `now` is given, and nothing can be booked in it any more. It is left when `stop` is set.

    Raises: Unavailable; DayUnread for an error while the day is read.
    """
    with snapshot(engine) as alone:
        if not alone.scalar(_IS_ALONE):
            return None
        now = now or read(engine, lambda session: session.execute(_NOW).scalar_one())
        before = begin_of_eighth(now - AFTER)
        oldest = read(
            engine,
            partial(
                checkpoints.day_to_reconcile,
                report_version=reconciled_sums.REPORT_VERSION,
                before=before,
                without=without,
            ),
        )
        if oldest is None:
            return None
        try:
            resolve(engine, oldest.jackpot_id, begin_of(oldest.day, oldest.eighth + 1), now=now)
            with snapshot(engine) as session:
                reconciled = _read_part(session, oldest, stop or threading.Event())
            if reconciled is None:
                return None
            days.catch_up(engine, oldest.jackpot_id)
            transact(engine, partial(_keep, reconciled=reconciled, now=now))
        except Exception as error:
            raise DayUnread(oldest) from error
        return oldest


def _keep(session: Session, reconciled: ReconciledDay, now: datetime) -> None:
    if reconciled.part.eighth == LAST_EIGHTH:
        days.keep_past(session, reconciled.jackpot_id, reconciled.part.day)
    checkpoints.add_day(session, read=reconciled, now=now)


def _read_part(session: Session, waits: DayToReconcile, stop: threading.Event) -> ReconciledDay | None:
    starts = instants.before(session, waits.jackpot_id, begin_of(waits.day, waits.eighth))
    ends = instants.before(session, waits.jackpot_id, begin_of(waits.day, waits.eighth + 1))
    sums: list[Sum] = []
    for part in Part(starts, ends).slices(SLICE):
        if stop.is_set():
            return None
        sums = added_up([*sums, *reconciled_sums.read_sums(session, waits.jackpot_id, waits.base, part)])
    stored = [sum_.as_json() for sum_ in sums]
    part_of_day = DayPart(waits.day, waits.eighth, starts, ends)
    return ReconciledDay(waits.jackpot_id, reconciled_sums.REPORT_VERSION, part_of_day, stored)


@dataclass(frozen=True, slots=True)
class _Pause:
    """Until when a jackpot is left alone, by the monotonic clock, and for how long that was."""

    until: float
    length_s: float


@dataclass(slots=True)
class Days:
    """Reconciles days, an eighth at a time, until `stop` is set; `clock` is the database's unless one is given."""

    engine: sqlalchemy.Engine
    stop: threading.Event
    clock: Callable[[], datetime] | None = None
    monotonic: Callable[[], float] = monotonic
    _rest_s: float = field(default=0, init=False)
    _next_look: float = field(default=0, init=False)
    _pauses: dict[str, _Pause] = field(default_factory=dict, init=False)

    def reconcile_next(self) -> bool:
        """Reconcile the first eighth that waits; returns whether there was one. Raises: Unavailable."""
        self.stop.wait(min(self._rest_s, LONGEST_REST_S))
        began, self._rest_s = self.monotonic(), 0
        if began < self._next_look:
            return False
        paused = [jackpot_id for jackpot_id, pause in self._pauses.items() if began < pause.until]
        now = None if self.clock is None else self.clock()
        try:
            day = reconcile_next(self.engine, now=now, without=paused, stop=self.stop)
        except DayUnread as error:
            pause = self._paused(error.day.jackpot_id)
            log.exception("day-not-reconciled", **_named(error.day), again_in_s=pause.length_s)
            return False
        if day is None:
            self._next_look = began + LOOK_EVERY_S
            return False
        self._pauses.pop(day.jackpot_id, None)
        self._rest_s = self.monotonic() - began
        log.info("day-reconciled", **_named(day))
        return True

    def _paused(self, jackpot_id: str) -> _Pause:
        last = self._pauses.get(jackpot_id)
        length_s = FIRST_PAUSE_S if last is None else min(2 * last.length_s, LONGEST_PAUSE_S)
        self._pauses[jackpot_id] = pause = _Pause(self.monotonic() + length_s, length_s)
        return pause


def _named(day: DayToReconcile) -> dict[str, str]:
    return {"jackpot_id": day.jackpot_id, "day": day.day.isoformat(), "from": f"{begin_of(day.day, day.eighth):%H:%M}"}
