"""A service process whose clock is wrong serves some tables, on the same database, for some seconds."""

from typing import ClassVar

from tests.chaos.faults.fault import Fault
from tests.chaos.service import Service
from tests.chaos.shifted_clock import VARIABLE
from tests.chaos.site import Site

SERVERS = 4


class ClockWrong(Fault):
    """Its clock is wrong by so many seconds."""

    seconds: ClassVar = 4.0
    shift_s: ClassVar[int]

    def __init__(self) -> None:
        self._service: Service | None = None
        self._tables = ""

    def do(self, site: Site) -> None:
        """Serve by the wrong clock, and let tables play there."""
        self._service = site.another_service({VARIABLE: str(self.shift_s)})
        self._service.launch()
        self._service.wait_until_listening()
        self._tables = site.start_tables(servers=SERVERS, port=self._service.port)

    def undo(self, site: Site) -> None:
        """End both: first the tables, which have then rounds that nobody ends."""
        if self._tables:
            site.generators.kill(self._tables)
        if self._service is not None:
            self._service.stop()


class ClockAhead(ClockWrong):
    """Forty days ahead."""

    name: ClassVar = "a clock 40 days ahead"
    shift_s: ClassVar = 40 * 86_400


class ClockBehind(ClockWrong):
    """Two hours back."""

    name: ClassVar = "a clock 2 hours back"
    shift_s: ClassVar = -7200


FAULTS = (ClockAhead, ClockBehind)
