"""Reconciling days that are over, one at a time: a report of a month then has only its edges to read."""

from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Final

import sqlalchemy
from sqlalchemy import text

from jackpot_service.db import Session, read, snapshot, transact
from jackpot_service.ledger import instants
from jackpot_service.records import reconciled_days
from jackpot_service.records.reconciled_days import DayPart, DueDay, ReconciledDay
from jackpot_service.reports.finance import frame, two_sides
from jackpot_service.reports.finance.spans import DAY, Part, midnight
from jackpot_service.usecases.resolve_instant import resolve_instant

AFTER_MIDNIGHT: Final = timedelta(hours=1)
"""How long a day has been over when it is read: by then busy books are past it, and nothing has to be locked for it."""

# A day of a busy jackpot takes seconds: one of several runners reads it, and the others have nothing to do.
_IS_ALONE = text("SELECT pg_try_advisory_xact_lock(hashtext('reconciling'))")


def reconcile_next(engine: sqlalchemy.Engine, *, now: datetime) -> DueDay | None:
    """
    Read the day that has waited longest, and keep what it came to; None if there is none, or another does so.

    Nothing can be booked in it any more: its end is an instant that was resolved. Raises: Unavailable.
    """
    before = datetime.combine((now - AFTER_MIDNIGHT).astimezone(UTC), time(), UTC)
    due = read(engine, partial(reconciled_days.due, edition=two_sides.EDITION, before=before))
    if due is None:
        return None
    transact(engine, partial(resolve_instant, book=due.jackpot_id, instant=midnight(due.day + DAY), now=now))
    with snapshot(engine) as session:
        found = _read(session, due) if session.scalar(_IS_ALONE) else None
    if found is None:
        return None
    transact(engine, partial(reconciled_days.add, read=found, now=now))
    return due


def _read(session: Session, due: DueDay) -> ReconciledDay:
    ends = instants.before(session, due.jackpot_id, midnight(due.day + DAY))
    starts = instants.before(session, due.jackpot_id, midnight(due.day))
    stand = frame.of_part(session, due.jackpot_id, due.base, Part(starts, ends))
    sums = [two_sides.as_json(one) for one in two_sides.read(session, stand)]
    return ReconciledDay(due.jackpot_id, two_sides.EDITION, DayPart(due.day, starts, ends), sums)
