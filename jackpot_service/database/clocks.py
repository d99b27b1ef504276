"""
Whether the clock of this machine is the database's: off by more than two seconds, the service books nothing.

The database's clock is read at each connection, and again when the last reading is some seconds old. Between two
readings the steady clock carries it on, so that a step of this machine's clock shows at the next call.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import structlog

from jackpot_service.domain.errors import Unavailable

TOLERANCE_S: Final = 2.0
"""As in the database, which refuses to move a stripe's time further ahead of its own clock (`0004_laws/clock.sql`)."""

READ_EVERY_S: Final = 5.0

log = structlog.get_logger()


class ClockSkew(Unavailable, code="clock-skew", title="The clock of the service is not the database's"):
    """The clocks of the service and of its database differ; nothing was written."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reading of the database's clock, in seconds, at an instant of the steady clock; give or take some."""

    time_s: float
    at: float
    give_or_take: float


class DatabaseClock:
    """The clock of a database, as it was read last."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._reading: _Reading | None = None

    def read(self, ask: Callable[[], datetime]) -> None:
        """Read the clock: it said what it says at some time while it was asked."""
        asked_at = self._monotonic()
        read_at = ask()
        took = self._monotonic() - asked_at
        self._reading = _Reading(read_at.timestamp(), asked_at + took / 2, took / 2)

    @property
    def is_fresh(self) -> bool:
        """Whether it was read of late."""
        return self._reading is not None and self._monotonic() - self._reading.at < READ_EVERY_S

    def ahead_s(self, clock: Callable[[], datetime]) -> float:
        """Return how far a clock is ahead of it at least; negative, behind. Nothing is known before it was read."""
        reading = self._reading
        if reading is None:
            return 0.0
        ahead = clock().timestamp() - reading.time_s - (self._monotonic() - reading.at)
        return min(ahead + reading.give_or_take, 0.0) if ahead < 0 else max(ahead - reading.give_or_take, 0.0)


def utc_now() -> datetime:
    """Return what the clock of this machine says."""
    return datetime.now(UTC)


@dataclass(slots=True)
class ClockGuard:
    """Compares a clock with the database's, and says in the log when they begin to differ and when that ends."""

    database: DatabaseClock
    clock: Callable[[], datetime] = utc_now
    _was_right: bool = field(default=True, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def agrees(self) -> bool:
        """Return whether the clocks agree by a reading of late; False says that `require` has to find out."""
        if not self.database.is_fresh or not self._is_near:
            return False
        self._note(is_right=True)
        return True

    def require(self, ask: Callable[[], datetime]) -> None:
        """Compare the clocks, and `ask` the database where that is due or they seem to differ. Raises: ClockSkew."""
        if not self.agrees() and not self.look(ask):
            message = "The clock of the service differs from the database's by more than two seconds."
            raise ClockSkew(message)

    def look(self, ask: Callable[[], datetime]) -> bool:
        """Ask the database, and return whether the clocks agree."""
        self.database.read(ask)
        is_near = self._is_near
        self._note(is_right=is_near)
        return is_near

    @property
    def _is_near(self) -> bool:
        return abs(self.database.ahead_s(self.clock)) <= TOLERANCE_S

    def _note(self, *, is_right: bool) -> None:
        if is_right is self._was_right:
            return
        with self._lock:
            if is_right is self._was_right:  # Another was first.
                return
            self._was_right = is_right
        if is_right:
            log.warning("clock-skew-ended")
        else:
            log.error("clock-skew-began", ahead_s=round(self.database.ahead_s(self.clock), 1))
