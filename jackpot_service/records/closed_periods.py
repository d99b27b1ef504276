"""Periods that finance closed."""

from typing import Any

from sqlalchemy import Row, insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.domain.closed_periods import ClosedPeriod, KeptReport, Period, facts_of
from jackpot_service.records.periods_schema import ClosedPeriodRow


def last(session: Session) -> ClosedPeriod | None:
    """The last period that was closed; None if none was."""
    found = latest(session, limit=1)
    return found[0] if found else None


def latest(session: Session, *, limit: int | None = None, before: int | None = None) -> tuple[ClosedPeriod, ...]:
    """The periods that were closed, the latest first: all, or those that were before an act of this seq."""
    table = ClosedPeriodRow.__table__
    question = select(table).order_by(table.c.ends_at.desc()).limit(limit)
    if before is not None:
        question = question.where(table.c.entry_seq < before)
    return tuple(map(period_of, session.execute(question)))


def find(session: Session, period: Period) -> ClosedPeriod | None:
    """A period, if it was closed as exactly that."""
    table = ClosedPeriodRow.__table__
    row = session.execute(select(table).where(table.c.ends_at == period.end)).one_or_none()
    return None if row is None or row.starts_at != period.start else period_of(row)


def add(session: Session, closed: ClosedPeriod) -> None:
    """Write that a period is closed."""
    session.execute(
        insert(ClosedPeriodRow).values(
            starts_at=closed.period.start,
            ends_at=closed.period.end,
            reports=facts_of(closed.period, closed.reports)["reports"],
            entry_seq=closed.entry_seq,
        )
    )


def period_of(row: Row[Any]) -> ClosedPeriod:
    """Read a period from its row."""
    reports = {name: KeptReport(told["report_version"], told["sha256"]) for name, told in row.reports.items()}
    return ClosedPeriod(Period(row.starts_at, row.ends_at), reports, row.entry_seq)
