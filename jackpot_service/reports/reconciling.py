"""Reconciling days that are over, one at a time: a report of a month then has only its edges to read."""

import threading
from collections.abc import Collection
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Final

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.transactions import Session, read, snapshot, transact
from jackpot_service.ledger import instants
from jackpot_service.records import reconciled_days
from jackpot_service.records.reconciled_days import DayPart, DueDay, ReconciledDay
from jackpot_service.reports.finance import two_sides
from jackpot_service.reports.finance.side_sums import Sum, added_up, as_json
from jackpot_service.reports.finance.spans import DAY, Part, midnight
from jackpot_service.reports.resolving import resolve

AFTER_MIDNIGHT: Final = timedelta(hours=1)
"""How long a day has been over when it is read: by then busy books are past it, and nothing has to be locked for it."""

SLICE: Final = 20_000
"""About so many entries are read between two looks at whether to stop: a second's work."""

_IS_ALONE = text("SELECT pg_try_advisory_xact_lock(hashtext('reconciling'))")

_NOW = text("SELECT clock_timestamp()")


class DayUnread(Exception):
    """A day could not be read; the cause says why."""

    def __init__(self, due: DueDay) -> None:
        self.due = due
        super().__init__(f"{due.jackpot_id}, {due.day}")


def reconcile_next(
    engine: sqlalchemy.Engine,
    *,
    now: datetime | None = None,
    without: Collection[str] = (),
    stop: threading.Event | None = None,
) -> DueDay | None:
    """
    Read the first day that waits, of all jackpots but some, and keep what it came to; None if there was none to keep.

    Of several who would, one does: he holds a lock until the day is kept. It is over by the database's clock, unless
    `now` is said, and nothing can be booked in it any more. It is left when `stop` is set.

    Raises: Unavailable; DayUnread for what goes wrong while the day is read.
    """
    with snapshot(engine) as alone:
        if not alone.scalar(_IS_ALONE):
            return None
        now = now or read(engine, lambda session: session.execute(_NOW).scalar_one())
        before = datetime.combine((now - AFTER_MIDNIGHT).astimezone(UTC), time(), UTC)
        due = read(
            engine,
            partial(reconciled_days.due, report_version=two_sides.REPORT_VERSION, before=before, without=without),
        )
        if due is None:
            return None
        try:
            resolve(engine, due.jackpot_id, midnight(due.day + DAY), now=now)
            with snapshot(engine) as session:
                found = _read(session, due, stop or threading.Event())
            if found is None:
                return None
            transact(engine, partial(reconciled_days.add, read=found, now=now))
        except Exception as error:
            raise DayUnread(due) from error
        return due


def _read(session: Session, due: DueDay, stop: threading.Event) -> ReconciledDay | None:
    ends = instants.before(session, due.jackpot_id, midnight(due.day + DAY))
    starts = instants.before(session, due.jackpot_id, midnight(due.day))
    sums: list[Sum] = []
    for part in Part(starts, ends).slices(SLICE):
        if stop.is_set():
            return None
        sums = added_up([*sums, *two_sides.read(session, due.jackpot_id, due.base, part)])
    found = [as_json(one) for one in sums]
    return ReconciledDay(due.jackpot_id, two_sides.REPORT_VERSION, DayPart(due.day, starts, ends), found)
