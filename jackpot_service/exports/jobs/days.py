"""What a runner does that has no job: it reconciles days that are over, and gives way to everything else."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import sqlalchemy
import structlog

from jackpot_service.records.reconciled_days import DueDay
from jackpot_service.reports.reconciling import DayUnread, reconcile_next

LONGEST_REST_S: Final = 2.0
"""It rests as long as it worked on the last day, but no longer than this: a job waits for it."""

LOOK_EVERY_S: Final = 30.0
"""How long it looks for no day after it found none: they come once a day, and whoever looks is in the way of bets."""

FIRST_PAUSE_S: Final = 60.0
"""How long a jackpot is left alone of which a day could not be read; each time twice as long, up to the longest."""

LONGEST_PAUSE_S: Final = 3600.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Pause:
    """Until when a jackpot is left alone, by the monotonic clock, and for how long that was."""

    until: float
    length_s: float


@dataclass(slots=True)
class Days:
    """Reconciles days, one at a time, until `stop` is set; `clock` is the database's unless one is given."""

    engine: sqlalchemy.Engine
    stop: threading.Event
    clock: Callable[[], datetime] | None = None
    monotonic: Callable[[], float] = time.monotonic
    _rest_s: float = field(default=0, init=False)
    _next_look: float = field(default=0, init=False)
    _pauses: dict[str, _Pause] = field(default_factory=dict, init=False)

    def reconcile_next(self) -> bool:
        """Reconcile the first day that waits; returns whether there was one. Raises: Unavailable."""
        self.stop.wait(min(self._rest_s, LONGEST_REST_S))
        began, self._rest_s = self.monotonic(), 0
        if began < self._next_look:
            return False
        paused = [jackpot_id for jackpot_id, pause in self._pauses.items() if began < pause.until]
        now = None if self.clock is None else self.clock()
        try:
            day = reconcile_next(self.engine, now=now, without=paused, stop=self.stop)
        except DayUnread as error:
            pause = self._paused(error.due.jackpot_id)
            log.exception("day-not-reconciled", **_told(error.due), again_in_s=pause.length_s)
            return False
        if day is None:
            self._next_look = began + LOOK_EVERY_S
            return False
        self._pauses.pop(day.jackpot_id, None)
        self._rest_s = self.monotonic() - began
        log.info("day-reconciled", **_told(day))
        return True

    def _paused(self, jackpot_id: str) -> _Pause:
        last = self._pauses.get(jackpot_id)
        length_s = FIRST_PAUSE_S if last is None else min(2 * last.length_s, LONGEST_PAUSE_S)
        self._pauses[jackpot_id] = pause = _Pause(self.monotonic() + length_s, length_s)
        return pause


def _told(day: DueDay) -> dict[str, str]:
    return {"jackpot_id": day.jackpot_id, "day": day.day.isoformat()}
