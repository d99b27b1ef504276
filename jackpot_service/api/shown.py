"""
Jackpots as displays show them, which never go back.

Some of it is read at a replica, some at the primary when the replica does not answer. A display that saw a jackpot's
cycle, and then the one before it, would celebrate a hit two times.
"""

import time
from collections.abc import Callable
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from jackpot_service.database.reads import Reading, Reads
from jackpot_service.database.transactions import Session
from jackpot_service.reports.jackpots import JackpotState, jackpot_state


class _Shown(NamedTuple):
    """The last of a jackpot: all from before an instant of the steady clock, up to some positions of its stripes."""

    until: float
    positions: tuple[int, ...]

    def is_missing_in(self, reading: Reading[JackpotState]) -> bool:
        """Whether a reading may lack some of it, as only a replica's may."""
        if reading.fresh_at is None:
            return False
        pairs = zip_longest(reading.value.meter.positions, self.positions, fillvalue=0)
        return reading.fresh_at < self.until or any(position < before for position, before in pairs)


class Shown:
    """Reads jackpots for displays: at the replica, or at the primary while that lacks what was shown before."""

    def __init__(self, reads: Reads, clock: Callable[[], datetime]) -> None:
        self._reads = reads
        self._clock = clock
        self._last: dict[str, _Shown] = {}

    def read(self, jackpot_id: str) -> Reading[JackpotState]:
        """Read a jackpot as it stands. Raises: UnknownJackpot; Busy."""

        def state(session: Session) -> JackpotState:
            return jackpot_state(session, jackpot_id, at=self._clock())

        reading, last = self._reads.read(state), self._last.get(jackpot_id)
        if last is not None and last.is_missing_in(reading):
            reading = self._reads.at_primary().read(state)
        until = time.monotonic() if reading.fresh_at is None else reading.fresh_at
        self._last[jackpot_id] = _Shown(until, reading.value.meter.positions)
        return reading
