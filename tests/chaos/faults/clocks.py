"""The clock of a running service process jumps, while some tables play there, on the same database as all others."""

import time
from typing import ClassVar

from tests.chaos import timing
from tests.chaos.call_log import now_s
from tests.chaos.faults.fault import Fault
from tests.chaos.service import NotServing, Service
from tests.chaos.shifted_clock import VARIABLE, ShiftedClock
from tests.chaos.site import Site

SERVERS = 4
LONGEST_WAIT_S = 30.0


class ClockJumps(Fault):
    """A clock that was right is wrong by so many seconds, and right again in the end."""

    seconds: ClassVar = 4.0
    shift_s: ClassVar[int]

    def __init__(self) -> None:
        self._service: Service | None = None
        self._clock: ShiftedClock | None = None
        self._tables = ""

    def do(self, site: Site) -> None:
        """Serve by a right clock, let tables play there until each was acknowledged, and have the clock jump."""
        file = site.directory / "shift"
        self._clock = ShiftedClock(file)
        self._clock.jump(0)
        self._service = site.another_service({VARIABLE: str(file)})
        self._service.start()
        self._tables = site.start_tables(servers=SERVERS, port=self._service.port)
        self._require_acknowledged(site)
        self._clock.jump(self.shift_s)

    def undo(self, site: Site) -> None:
        """Set the clock right; bets must flow there again, before the tables end their rounds and the service stops."""
        try:
            if self._clock is not None and self._tables:
                self._clock.jump(0)
                self._require_acknowledged(site)
        finally:
            if self._tables:
                site.generators.stop(self._tables)
            if self._service is not None:
                self._service.stop()

    def _require_acknowledged(self, site: Site) -> None:
        """Wait until each table server there was acknowledged a new call. Raises: NotServing."""
        since_s, servers = now_s(), site.generators.names_of(self._tables)
        while now_s() < since_s + LONGEST_WAIT_S:
            site.reader.update()
            calls = site.reader.calls(since_s=since_s)
            if timing.recovered_s(calls, servers, since_s=since_s) is not None:
                return
            time.sleep(0.1)
        message = f"the service whose clock is to jump answers no bets, or none any more: {site.directory}"
        raise NotServing(message)


class ClockAhead(ClockJumps):
    """Forty days ahead."""

    name: ClassVar = "a clock jumps 40 days ahead"
    shift_s: ClassVar = 40 * 86_400


class ClockBehind(ClockJumps):
    """Two hours back."""

    name: ClassVar = "a clock jumps 2 hours back"
    shift_s: ClassVar = -7200


FAULTS = (ClockAhead, ClockBehind)
