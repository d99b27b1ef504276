"""Whether closed periods follow one another, and their reports still say what they said."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from sqlalchemy import Row

from jackpot_service.database.transactions import Session
from jackpot_service.domain.closed_periods import ClosedPeriod
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.ledger import instants
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.proof.decoding import unless_refused
from jackpot_service.proof.verification import NotCompared
from jackpot_service.records import closed_periods
from jackpot_service.reports.documents import sha256_of
from jackpot_service.reports.finance import frame, registry
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.questions import Parameters

Found = Iterator[Mismatch]


def check(session: Session, rows: Iterable[Row[Any]], *, not_compared: Counter[NotCompared]) -> Found:
    """
    Check every closed period, from its row, in their order.

    Reports of another version than the kept one cannot be compared, but counted.
    """
    begins = None
    for one in map(closed_periods.period_of, rows):
        if one.period.start != begins:
            yield _mismatch(one, f"begins at {instant(one.period.start)}, not at {instant(begins)}")
        begins = one.period.end
        yield from _is_over(session, one)
        yield from _reports_are(session, one, not_compared)


def _is_over(session: Session, closed: ClosedPeriod) -> Found:
    """Nothing can be booked in it any more: every stripe of every book has passed its end."""
    for book, passed in instants.passed(session).items():
        if passed < closed.period.end:
            yield _mismatch(closed, f"was closed, and book {book} has only passed {instant(passed)}")


def _reports_are(session: Session, closed: ClosedPeriod, not_compared: Counter[NotCompared]) -> Found:
    for name, kept in closed.reports.items():
        report = registry.REPORTS.get(name)
        if report is None or report.report_version != kept.report_version:
            not_compared[NotCompared(name, kept.report_version, None if report is None else report.report_version)] += 1
            continue
        found = _report_is(session, report, closed, kept.sha256)
        yield from unless_refused(session, found, partial(_mismatch, closed))


def _report_is(session: Session, report: Report, closed: ClosedPeriod, kept: str) -> Found:
    found = _hash(session, report, closed)
    if found != kept:
        yield _mismatch(closed, f"{report.name} was kept as {kept}, and says {found}")


def _hash(session: Session, report: Report, closed: ClosedPeriod) -> str | None:
    asked = Parameters(start=closed.period.start, end=closed.period.end)
    document = frame.make(session, report, asked, made_at=closed.period.end)
    return sha256_of(document)


def _mismatch(closed: ClosedPeriod, detail: str) -> Mismatch:
    return Mismatch(Code.CLOSED_PERIOD, REFERENCE_BOOK, f"period to {instant(closed.period.end)}", detail)
