"""A period that finance closed: it follows the one before without a gap, and its reports are kept by their hashes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.domain.errors import Conflict, FieldError, Refused
from jackpot_service.domain.facts import Facts, instant


class PeriodConflict(Conflict, code="period-conflict", title="The period cannot be closed"):
    """The period does not follow the last closed one."""


class PeriodBeforeBooks(Refused, code="period-before-books", title="The period ends before the books begin"):
    """The period ends before the first entry of all books. Nothing can ever be booked in it."""


@dataclass(frozen=True, slots=True)
class KeptReport:
    """The content of a closed period's report, as a SHA-256, in this version of the report."""

    report_version: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` (None: the beginning of the books) to `end`, which is not included."""

    start: datetime | None
    end: datetime


@dataclass(frozen=True, slots=True)
class ClosedPeriod:
    """A period with its reports, by name; `entry_seq` is the act that closed it."""

    period: Period
    reports: Mapping[str, KeptReport]
    entry_seq: int


def require_next(period: Period, *, last: Period | None, now: datetime) -> None:
    """Raises: PeriodConflict unless the period follows the last that was closed, and is over."""
    begins = None if last is None else last.end
    beginning = instant(begins) or "the beginning of the books"
    if period.start != begins:
        message = f"The next period to be closed begins at {beginning}."
        raise PeriodConflict(message)
    if period.end > now or (begins is not None and period.end <= begins):
        message = f"A period that begins at {beginning} cannot be closed up to {instant(period.end)} now."
        raise PeriodConflict(message)


def require_begun(period: Period, *, begun_at: datetime | None) -> None:
    """
    Require that the books have an entry before the end of a period. It need not be in the period, nor of a casino.

    Raises: PeriodBeforeBooks.
    """
    if begun_at is None or period.end <= begun_at:
        begin = "have no entry yet" if begun_at is None else f"begin at {instant(begun_at)}"
        message = f"The books {begin}: a period that ends at {instant(period.end)} lies before them."
        error = FieldError("/to", PeriodBeforeBooks.code, message)
        raise PeriodBeforeBooks(message, field_errors=(error,))


def facts_of(period: Period, reports: Mapping[str, KeptReport]) -> Facts:
    """The facts of the act that closes a period."""
    stored = {
        name: {"report_version": report.report_version, "sha256": report.sha256}
        for name, report in sorted(reports.items())
    }
    return {"from": instant(period.start), "to": instant(period.end), "reports": stored}
