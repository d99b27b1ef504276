"""What somebody asks of a report, in the words that every door takes; and the instants that his days mean."""

import zoneinfo
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from jackpot_service.database.transactions import Session
from jackpot_service.domain.casinos import UTC_ZONE, Casino, gaming_day_start
from jackpot_service.records import references
from jackpot_service.records.references import UnknownCasino
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Asked, BadQuestion, By, Report
from jackpot_service.reports.finance.spans import midnight
from jackpot_service.reports.resolving import require_come

Edge = datetime | date
"""Where a period begins or ends: an instant; or a day, at the instant at which it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    What somebody asks of a report.

    `start` is included, `end` and `as_of` are not; whichever of these two is earlier ends what the report covers, once
    both have come. A day starts at 00:00 UTC; of a report that is asked of one casino, or one table of it, when the
    casino's gaming day does.
    """

    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    round_id: str | None = None
    start: Edge | None = None
    end: Edge | None = None
    as_of: datetime | None = None
    by: tuple[By, ...] = ()


def of_casino(question: Question, own: str | None) -> Question:
    """
    The question as it is asked by somebody who is bound to a casino, if he is: of that one.

    Raises: UnknownCasino if he names another.
    """
    if own is None:
        return question
    if question.casino_id not in {None, own}:
        message = f"There is no casino {question.casino_id}."
        raise UnknownCasino(message, casino_id=question.casino_id)
    return replace(question, casino_id=own)


def asked(session: Session, report: Report, question: Question, longest_open: timedelta, *, now: datetime) -> Asked:
    """
    Put instants in the place of days, if this can be asked of the report at all.

    Raises: BadQuestion; UnknownCasino; InstantAhead for the later of two ends, since nobody resolves that one.
    """
    plain = Asked(
        jackpot_id=question.jackpot_id,
        casino_id=question.casino_id,
        table_id=question.table_id,
        round_id=question.round_id,
        by=question.by,
        longest_open=longest_open,
    )
    frame.require_possible(report, plain)
    casino = _casino(session, question)
    start, end = (_instant(edge, casino) for edge in (question.start, question.end))
    ends = sorted(one for one in (end, question.as_of) if one is not None)
    for later in ends[1:]:
        require_come(later, now=now)
    return replace(plain, start=start, end=next(iter(ends), None))


def _instant(edge: Edge | None, casino: Casino | None) -> datetime | None:
    return edge if edge is None or isinstance(edge, datetime) else _day_start(edge, casino)


def _day_start(day: date, casino: Casino | None) -> datetime:
    """Raises: BadQuestion for a day at an end of the calendar that starts in no year that there is."""
    if casino is None or casino.has_plain_days:
        return midnight(day)
    zone = UTC if casino.zone == UTC_ZONE else zoneinfo.ZoneInfo(casino.zone)
    try:
        return gaming_day_start(day, zone, casino.day_starts)
    except OverflowError:
        message = f"There is no {day} in {casino.zone}."
        raise BadQuestion(message) from None


def _casino(session: Session, question: Question) -> Casino | None:
    """The casino whose days are meant. A table that is not there is refused when the report is made."""
    casino_id = question.casino_id
    if casino_id is None and question.table_id is not None:
        table = references.table(session, question.table_id)
        casino_id = None if table is None else table.casino_id
    return None if casino_id is None else references.require_casino(session, casino_id)
