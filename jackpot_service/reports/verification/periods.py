"""Whether closed periods follow one another, and their reports still say what they said."""

from collections import Counter
from collections.abc import Iterator

from jackpot_service.db import Session
from jackpot_service.domain.closed_periods import ClosedPeriod
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.ledger import instants
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.records import closed_periods
from jackpot_service.reports.finance import frame, registry
from jackpot_service.reports.finance.frame import Asked, Report, Resolved
from jackpot_service.reports.finance.hashing import sha256_of
from jackpot_service.reports.verification.verification import NotCompared

Found = Iterator[Mismatch]


def check(session: Session, *, not_compared: Counter[NotCompared]) -> Found:
    """Check every closed period; reports of another edition than they were kept in cannot be compared, but counted."""
    closed = closed_periods.latest(session)
    begins = None
    for one in reversed(closed):
        if one.period.start != begins:
            yield _mismatch(one, f"begins at {instant(one.period.start)}, not at {instant(begins)}")
        begins = one.period.end
        yield from _reports_are(session, one, not_compared)


def _reports_are(session: Session, closed: ClosedPeriod, not_compared: Counter[NotCompared]) -> Found:
    for name, kept in closed.reports.items():
        report = registry.REPORTS.get(name)
        if report is None or report.edition != kept.edition:
            not_compared[NotCompared(name, kept.edition, None if report is None else report.edition)] += 1
            continue
        found = _hash(session, report, closed)
        if found != kept.sha256:
            yield _mismatch(closed, f"{name} was kept as {kept.sha256}, and says {found}")


def _hash(session: Session, report: Report, closed: ClosedPeriod) -> str | None:
    """Raises: LookupError if the period's instants are not stored."""
    asked = Asked(start=closed.period.start, end=closed.period.end)
    document = frame.make(session, report, asked, _resolved(session, asked), made_at=closed.period.end)
    return sha256_of(document)


def _resolved(session: Session, asked: Asked) -> Resolved:
    resolved = {}
    for book in frame.books_of(session, asked):
        for edge in (asked.start, asked.end):
            positions = None if edge is None else instants.stored(session, book, edge)
            if edge is not None and positions is not None:
                resolved[book, edge] = positions
    return resolved


def _mismatch(closed: ClosedPeriod, detail: str) -> Mismatch:
    return Mismatch(Code.CLOSED_PERIOD, REFERENCE_BOOK, f"period to {instant(closed.period.end)}", detail)
