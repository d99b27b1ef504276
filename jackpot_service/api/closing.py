"""How a period is closed: its reports are made and hashed, then it is written that they said so."""

from datetime import datetime

import sqlalchemy

from jackpot_service.db import read, rehearse, transact
from jackpot_service.domain.closed_periods import ClosedPeriod, KeptReport, Period, require_next
from jackpot_service.domain.facts import instant
from jackpot_service.records import closed_periods
from jackpot_service.reporting.making import made
from jackpot_service.reports.finance.frame import Asked
from jackpot_service.reports.finance.hashing import sha256_of
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.close_period import ClosePeriod, close_period, closed_before


def closed(engine: sqlalchemy.Engine, act: Act, end: datetime) -> tuple[ClosedPeriod, bool]:
    """
    Close the period from the end of the last one up to `end`, not included; tell whether it was closed so before.

    Raises: RequestConflict; PeriodConflict.
    """
    replayed = rehearse(engine, lambda session: closed_before(session, act, instant(end)))
    if replayed is not None:
        return replayed, True
    last = read(engine, closed_periods.last)
    period = Period(None if last is None else last.period.end, end)
    require_next(period, last=None if last is None else last.period, now=act.now)
    command = ClosePeriod(act, period, _kept(engine, period, now=act.now))
    return transact(engine, lambda session: close_period(session, command)), False


def _kept(engine: sqlalchemy.Engine, period: Period, *, now: datetime) -> dict[str, KeptReport]:
    kept = {}
    for report in REPORTS.values():
        if report.is_kept:
            asked = Asked(start=period.start, end=period.end)
            with made(engine, report, asked, now=now) as document:
                kept[report.name] = KeptReport(report.edition, sha256_of(document))
    return kept
