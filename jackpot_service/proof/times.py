"""
Whether entries and stripes are dated as the clocks let them be.

An entry is booked at the latest of three instants: when its request came in, what its stripe had passed, and what its
act had seen. None lies ahead of the clock of the database by more than the tolerance. A request takes an hour at most,
whatever is configured; groups that wait, and acts that wait for one another, wait within it. So no entry is booked more
than that hour, and the tolerances, after its request came in. A database whose clock was set back dates entries later.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select

from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry, BookedStripe

TOLERANCE: Final = timedelta(seconds=2)
"""So far a stripe's time may lie ahead of the database's clock, and the service's clock may differ from that."""

LONGEST: Final = timedelta(hours=1) + 2 * TOLERANCE
"""The longest time-out that the settings take, and what the clocks may differ by: once to each side."""


def now(session: Session) -> datetime:
    """Read the database's clock: what the session sees was booked before."""
    reading: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return reading


@dataclass(slots=True)
class Times:
    """The times that a book's stripes have passed, by its entries; `now` is the database's clock."""

    now: datetime
    stripes: Sequence[BookedStripe]
    cycles: Sequence[BookedCycle] = ()
    _openings: dict[tuple[int, int], BookedCycle] = field(default_factory=dict, init=False)
    _adding: frozenset[int] = field(default=frozenset(), init=False)
    _added: dict[int, datetime] = field(default_factory=dict, init=False)
    _levels: list[tuple[int, datetime]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._openings = {(cycle.stripe_no, cycle.seq): cycle for cycle in self.cycles}
        self._adding = frozenset(stripe.added_by for stripe in self.stripes)

    def check(self, entry: BookedEntry) -> Found:
        """No entry is booked ahead of the clock, nor later after its request came in than a request may take."""
        if entry.booked_at > self.now + TOLERANCE:
            detail = f"booked at {instant(entry.booked_at)}, the clock says {instant(self.now)}"
            yield Mismatch(Code.BOOKED_AHEAD, entry.book, entry.place, detail)
        elif entry.booked_at - entry.received_at > LONGEST:
            detail = f"booked at {instant(entry.booked_at)}, received at {instant(entry.received_at)}"
            yield Mismatch(Code.BOOKED_AHEAD, entry.book, entry.place, detail)
        self._note(entry)

    def _note(self, entry: BookedEntry) -> None:
        """A hit raises all stripes that its cut names to its own time; stripes are added at that of their entry."""
        cycle = self._openings.get((entry.stripe_no, entry.seq))
        if cycle is not None:
            self._levels.append((len(cycle.cut), entry.booked_at))
        if entry.stripe_no == 0 and entry.seq in self._adding:
            self._added[entry.seq] = entry.booked_at

    def check_stripes(self, book: str) -> Found:
        """No stripe is ahead of the clock, nor behind what raised it: the last hit, or the entry that added it."""
        for stripe in self.stripes:
            place = f"stripe {stripe.stripe_no}"
            if stripe.booked_at is None:
                continue  # It began in no time; the laws compare it with its last entry.
            if stripe.booked_at > self.now + TOLERANCE:
                detail = f"its time is {instant(stripe.booked_at)}, the clock says {instant(self.now)}"
                yield Mismatch(Code.BOOKED_AHEAD, book, place, detail)
            raised = [booked_at for reach, booked_at in self._levels if stripe.stripe_no < reach]
            raised += [self._added[seq] for seq in (stripe.added_by,) if seq in self._added]
            if raised and stripe.booked_at < max(raised):
                detail = f"its time is {instant(stripe.booked_at)}, and was raised to {instant(max(raised))}"
                yield Mismatch(Code.STRIPE_END, book, place, detail)
