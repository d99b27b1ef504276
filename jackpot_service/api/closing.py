"""How a period is closed: its reports are made and hashed, then it is written that they said so."""

import math
import time
from datetime import datetime

import sqlalchemy

from jackpot_service.database.transactions import read, rehearse, transact
from jackpot_service.domain.closed_periods import KeptReport, Period, require_next
from jackpot_service.domain.facts import instant
from jackpot_service.records import closed_periods
from jackpot_service.reports.bounds import in_time
from jackpot_service.reports.finance import registry
from jackpot_service.reports.finance.frame import Asked, Report
from jackpot_service.reports.finance.hashing import sha256_of
from jackpot_service.reports.making import made
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.close_period import ClosePeriod, PeriodClosed, close_period, closed_before


def closed(engine: sqlalchemy.Engine, act: Act, end: datetime, *, longest_s: float | None = None) -> PeriodClosed:
    """
    Close the period from the end of the last one up to `end`, not included; tell whether it was closed so before.

    Each of its reports is read for `longest_s` at most, unless that is None.

    Raises: RequestConflict; PeriodConflict; ReportTookTooLong.
    """
    replayed = rehearse(engine, lambda session: closed_before(session, act, instant(end)))
    if replayed is not None:
        return PeriodClosed(replayed, is_replay=True)
    last = read(engine, closed_periods.last)
    period = Period(None if last is None else last.period.end, end)
    require_next(period, last=None if last is None else last.period, now=act.now)
    kept = {
        report.name: KeptReport(report.edition, _sha256(engine, report, period, now=act.now, longest_s=longest_s))
        for report in registry.REPORTS.values()
        if report.is_kept
    }
    command = ClosePeriod(act, period, kept)
    return transact(engine, lambda session: close_period(session, command))


def _sha256(
    engine: sqlalchemy.Engine, report: Report, period: Period, *, now: datetime, longest_s: float | None
) -> str:
    until = math.inf if longest_s is None else time.monotonic() + longest_s
    asked = Asked(start=period.start, end=period.end)
    with made(engine, report, asked, now=now, longest_s=longest_s) as document:
        return sha256_of(in_time(document, until))
