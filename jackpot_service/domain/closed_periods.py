"""A period that finance closed: it follows the one before without a gap, and its reports are kept by their hashes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts, instant


class PeriodConflict(Conflict, code="period-conflict", title="The period cannot be closed"):
    """The period does not begin where the last closed one ends, or has not ended yet."""


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


def facts_of(period: Period, reports: Mapping[str, KeptReport]) -> Facts:
    """The facts of the act that closes a period."""
    stored = {
        name: {"report_version": report.report_version, "sha256": report.sha256}
        for name, report in sorted(reports.items())
    }
    return {"from": instant(period.start), "to": instant(period.end), "reports": stored}
