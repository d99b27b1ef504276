"""The figures for those who watch the service, read from the books at that moment: the one place for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from sqlalchemy import BigInteger, and_, func, select

from jackpot_service.database.models import (
    IS_TO_DO,
    ChangeDecisionRow,
    ChangeRequestRow,
    CycleRow,
    ExceptionCountRow,
    ExceptionRow,
    JackpotRow,
    JobRow,
    RulesVersionRow,
    StripeRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.counting import counted
from jackpot_service.domain.jobs import JobState
from jackpot_service.domain.lives import Life
from jackpot_service.domain.rounds import MONTHS_A_YEAR, Month
from jackpot_service.records import changes, checkpoints, lives, rate_sheets
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports.checkpoints import standing_mismatches
from jackpot_service.reports.finance import reconciled_sums
from jackpot_service.reports.finance.period import midnight
from jackpot_service.schema import months


@dataclass(frozen=True, slots=True)
class SheetAge:
    """
    A base currency that a jackpot uses, and the sheet of it in force; None if there is none.

    Unless it `converts`, the sheet has no rate of another currency: there is nothing in it that grows old.
    """

    base: str
    head: SheetHead | None
    converts: bool

    def age(self, *, at: datetime) -> timedelta | None:
        """For how long the sheet has been in force."""
        return None if self.head is None else at - self.head.effective_at

    def warning(self, *, at: datetime, stale_after: timedelta) -> str | None:
        """Say in a sentence that the sheet is missing or too old; None if all is well."""
        age = self.age(at=at)
        if self.head is None or age is None:
            return f"No rate sheet of {self.base} is in force."
        if age <= stale_after or not self.converts:
            return None
        hours, days = age // timedelta(hours=1), age.days
        passed = counted(days, "day") if days > 1 else counted(hours, "hour")
        return f"Rate sheet {self.head.number} of {self.base} has been in force for {passed}."


@dataclass(frozen=True, slots=True)
class BookedPools:
    """The amounts of a jackpot's pools in its base currency, as booked: a limit is not looked at."""

    jackpot_id: str
    base: str
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal


@dataclass(frozen=True, slots=True)
class Gauges:
    """
    Ages of sheets, pools of jackpots, change requests that wait by kind, and refusals kept for finance by kind.

    `months_ahead` is how many months after the current one have a partition of bets, one after another. The first of
    the days that wait to be reconciled began `days_behind` days ago; 0 if there is none. `jobs` counts those that are
    not over by state, and the first of those that wait has done so since `waits_since`. `mismatches` is how many a
    verification has found, for as long as that stands.
    """

    sheets: Sequence[SheetAge]
    pools: Sequence[BookedPools]
    pending_changes: Mapping[str, int]
    exceptions: Mapping[str, int]
    months_ahead: int
    days_behind: int
    jobs: Mapping[str, int]
    waits_since: datetime | None
    mismatches: int


def gauges(session: Session, *, at: datetime) -> Gauges:
    """Read all of them, each at an instant of its own."""
    return Gauges(
        sheet_ages(session, at=at),
        _pools(session),
        _pending_changes(session, at=at),
        _exceptions(session),
        months_ahead(session, at=at),
        _days_behind(session, at=at),
        *_jobs(session),
        _mismatches(session),
    )


def sheet_ages(session: Session, *, at: datetime) -> Sequence[SheetAge]:
    """The sheets in force of the base currencies of all jackpots."""
    bases = session.scalars(select(JackpotRow.base).distinct().order_by(JackpotRow.base)).all()
    return [sheet_age(session, base, at=at) for base in bases]


def sheet_age(session: Session, base: str, *, at: datetime, upto: int | None = None) -> SheetAge:
    """Return the sheet of a base currency in force, as `rate_sheets.in_force` finds it."""
    head = rate_sheets.in_force(session, base, at=at, upto=upto)
    return SheetAge(base, head, converts=head is not None and rate_sheets.has_rates(session, head))


def months_ahead(session: Session, *, at: datetime) -> int:
    """How many months after the current one have a partition of bets, one after another; at most a year's."""
    coming = [Month.of(at).later(number) for number in range(1, MONTHS_A_YEAR + 1)]
    lacking = months.missing_months(session, coming)
    return coming.index(lacking[0]) if lacking else len(coming)


def _days_behind(session: Session, *, at: datetime) -> int:
    today = at.astimezone(UTC).date()
    oldest = checkpoints.day_to_reconcile(
        session, report_version=reconciled_sums.REPORT_VERSION, before=midnight(today)
    )
    return 0 if oldest is None else (today - oldest.day).days


def _jobs(session: Session) -> tuple[Mapping[str, int], datetime | None]:
    """Count the jobs that are not over, by state; and since when the first of those that wait does so."""
    question = select(JobRow.state, func.count(), func.min(JobRow.created_at)).where(IS_TO_DO).group_by(JobRow.state)
    rows = {state: (count, first) for state, count, first in session.execute(question)}
    counts = {state.value: rows.get(state.value, (0, None))[0] for state in (JobState.QUEUED, JobState.RUNNING)}
    return counts, rows.get(JobState.QUEUED.value, (0, None))[1]


def _mismatches(session: Session) -> int:
    job = standing_mismatches(session)
    return 0 if job is None or job.position is None else int(job.position["outcome"]["mismatches"])


def _pools(session: Session) -> Sequence[BookedPools]:
    sums = (
        func.sum(StripeRow.meter_players + StripeRow.meter_house),
        func.sum(StripeRow.reserve),
        func.sum(StripeRow.prize_fund),
    )
    rows = session.execute(
        select(JackpotRow.jackpot_id, JackpotRow.base, *sums)
        .join(StripeRow, StripeRow.jackpot_id == JackpotRow.jackpot_id)
        .group_by(JackpotRow.jackpot_id, JackpotRow.base)
        .order_by(JackpotRow.jackpot_id)
    )
    return [BookedPools(*row) for row in rows]


def _pending_changes(session: Session, *, at: datetime) -> Mapping[str, int]:
    rows = session.execute(
        select(ChangeRequestRow.kind, func.count())
        .join(ChangeDecisionRow, changes.DECIDED, isouter=True)
        .where(ChangeDecisionRow.request_id.is_(None), ChangeRequestRow.expires_at > at)
        .group_by(ChangeRequestRow.kind)
    )
    return {row[0]: row[1] for row in rows}


def _exceptions(session: Session) -> Mapping[str, int]:
    """Count refusals by kind: each of those for which a line of an hour stands, one of any other."""
    counted = ExceptionCountRow.exception_id == ExceptionRow.exception_id
    refusals = func.sum(func.coalesce(ExceptionCountRow.refusals, 1)).cast(BigInteger)
    question = select(ExceptionRow.kind, refusals).join(ExceptionCountRow, counted, isouter=True)
    return {kind: number for kind, number in session.execute(question.group_by(ExceptionRow.kind))}  # noqa: C416  rows are no pairs to mypy


def without_payout_tiers(session: Session) -> list[str]:
    """Return the jackpots whose running rules have no payout tier, but for retired ones, by id."""
    last = select(CycleRow.jackpot_id, func.max(CycleRow.cycle).label("cycle")).group_by(CycleRow.jackpot_id).subquery()
    running = and_(CycleRow.jackpot_id == last.c.jackpot_id, CycleRow.cycle == last.c.cycle)
    version = and_(
        RulesVersionRow.jackpot_id == JackpotRow.jackpot_id, RulesVersionRow.version == CycleRow.rules_version
    )
    jackpot_ids = session.scalars(
        select(JackpotRow.jackpot_id)
        .join(last, last.c.jackpot_id == JackpotRow.jackpot_id)
        .join(CycleRow, running)
        .join(RulesVersionRow, version)
        .where(~RulesVersionRow.document.has_key("payout_tiers"))
        .order_by(JackpotRow.jackpot_id)
    )
    return [
        jackpot_id
        for jackpot_id in jackpot_ids
        if lives.life_of(session, jackpot_id, is_accepting=False) is not Life.RETIRED
    ]
