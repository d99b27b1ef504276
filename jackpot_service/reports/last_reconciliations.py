"""
The last reconciliation of each book, from the sums of the days that were read: no document is read for it again.

A job worker reads all that is over, once (see `reconciling`). Compared are all days up to the last one that was read as
a whole. That is the report `reconciliation` as of their end, to the digit, with all of its sections.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.records import checkpoints, references
from jackpot_service.records.checkpoints import LastDay
from jackpot_service.reports.documents import Section
from jackpot_service.reports.finance import frame, reconciled_sums, reconciliation
from jackpot_service.reports.finance.period import DAY, midnight
from jackpot_service.reports.questions import Parameters
from jackpot_service.reports.reconciling import AFTER

EARLIEST: Final = datetime.min.replace(tzinfo=UTC) + AFTER
"""Before this instant there is no day that could be over."""

SUMMARY: Final = "summary"
"""The section that counts; all others compare."""


@dataclass(frozen=True, slots=True)
class Variance:
    """
    A figure that documents and journal do not agree about, with the section of the report that has its row.

    A rules version or a movement is None where the section does not divide by it.
    """

    section: str
    account: str
    currency: str
    rules_version: int | None
    movement: str | None
    expected: Decimal
    booked: Decimal
    variance: Decimal


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """
    The comparison of a jackpot's book up to `end`, which is not included; None if none of its days was read.

    `read_at` is when the last of the days was read. So many figures were `compared`, and `variances` are those that
    differ. `waits_since` is the first day that was over, and had entries, and was not read as a whole; None if none.
    """

    jackpot_id: str
    base: str
    end: datetime | None
    read_at: datetime | None
    compared: int
    variances: Sequence[Variance]
    waits_since: date | None

    @property
    def agrees(self) -> bool | None:
        """Whether no figure differs; None if none was compared."""
        return None if self.end is None else not self.variances

    def days_waiting(self, *, at: datetime) -> int:
        """Count the days from the first that waits up to today."""
        return 0 if self.waits_since is None else (at.astimezone(UTC).date() - self.waits_since).days


def reconciliations(
    session: Session, *, at: datetime, limit: int | None = None, after: str | None = None
) -> list[Reconciliation]:
    """
    Compare the books of jackpots in the order of their ids, as it was known at an instant that is over.

    Days that were read later do not count. A day that was being read at the instant may join a moment later.
    """
    today = (max(at, EARLIEST) - AFTER).astimezone(UTC).date()
    waiting = {
        day.jackpot_id: day.day
        for day in checkpoints.days_to_reconcile(
            session,
            report_version=reconciled_sums.REPORT_VERSION,
            before=midnight(today),
            read_by=at,
        )
    }
    jackpot_ids = references.jackpot_ids(session, limit=limit, after=after)
    return [
        _reconciliation(session, jackpot_id, waiting.get(jackpot_id), at=at, today=today) for jackpot_id in jackpot_ids
    ]


def _reconciliation(
    session: Session, jackpot_id: str, waits_since: date | None, *, at: datetime, today: date
) -> Reconciliation:
    """Compare a book. For some time after midnight `today` is still the day before, of which more is to be read."""
    base = references.require_base(session, jackpot_id)
    before = today if waits_since is None else min(waits_since, today)
    last = checkpoints.last_day(
        session, jackpot_id, report_version=reconciled_sums.REPORT_VERSION, at=at, before=before
    )
    if last is None:
        return Reconciliation(jackpot_id, base, None, None, 0, (), waits_since)
    compared, variances = _compared(session, jackpot_id, last)
    end = midnight(last.day + DAY)
    return Reconciliation(jackpot_id, base, end, last.read_at, compared, variances, waits_since)


def _compared(session: Session, jackpot_id: str, last: LastDay) -> tuple[int, Sequence[Variance]]:
    parameters = Parameters(jackpot_id=jackpot_id, end=midnight(last.day + DAY))
    document = frame.make(session, reconciliation.REPORT, parameters, made_at=last.read_at)
    compared = [row for section in document.sections if section.name != SUMMARY for row in _named(section)]
    return len(compared), [_variance(row) for row in compared if row["variance"] != ZERO]


def _named(section: Section) -> Iterator[Mapping[str, Any]]:
    names = [column.name for column in section.columns]
    return ({"section": section.name, **dict(zip(names, row, strict=True))} for row in section.rows)


def _variance(row: Mapping[str, Any]) -> Variance:
    named: dict[str, Any] = {field.name: row.get(field.name) for field in fields(Variance)}
    return Variance(**named)
