"""Problems of lists, reports, jobs, events and exceptions."""

from typing import Final

from jackpot_service.api.problem_catalogue.rows import Section, row, text, whole
from jackpot_service.domain.closed_periods import PeriodBeforeBooks, PeriodConflict
from jackpot_service.events.entries import CursorAhead
from jackpot_service.exports.jobs.kinds import JobForbidden
from jackpot_service.exports.jobs.requests import (
    JobConflict,
    JobFileRemoved,
    JobNotDone,
    JobsWaiting,
    JobUnderWay,
    UnknownJob,
)
from jackpot_service.exports.journal import PositionsUnknown
from jackpot_service.records.players import HistoryTookTooLong
from jackpot_service.records.references import UnknownCasino
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.reports.audit import UnknownAct
from jackpot_service.reports.checkpoints import UnknownPeriod, UnknownSeal
from jackpot_service.reports.entries import UnknownEntry
from jackpot_service.reports.finance.registry import UnknownReport
from jackpot_service.reports.making import InstantAhead, InstantNotResolved, ReportTookTooLong, ReportTooLong
from jackpot_service.reports.questions import BadQuestion
from jackpot_service.reports.rates import UnknownSheet
from jackpot_service.usecases.acknowledge_exception import (
    ExceptionAcknowledged,
    TwoPeopleRequired,
    UnknownException,
)

REPORTS: Final = Section.of(
    "Lists, reports and events",
    row(UnknownJackpot, "Check the jackpot's id, and the casino of the key.", jackpot_id=text("The id.")),
    row(UnknownCasino, "Check the casino's id, and the casino of the key.", casino_id=text("The id.")),
    row(
        UnknownSheet,
        "Ask for a number that there is (`GET /v1/rate-sheets`).",
        base=text("The base currency."),
        number=whole("The number."),
    ),
    row(
        UnknownEntry,
        "Check the book, the stripe and the number, and whether the key sees the round.",
        book=text("The book."),
        stripe=whole("The stripe's number."),
        seq=whole("The entry's number on it."),
    ),
    row(UnknownAct, "Look for the act in `GET /v1/audit`.", seq=whole("The number.")),
    row(UnknownSeal, "Ask for a number that there is (`GET /v1/seals`).", number=whole("The number.")),
    row(UnknownReport, "Use a name of `GET /v1/reports`."),
    row(BadQuestion, "Correct the parameters; `docs/reports.md` says which ones each report takes."),
    row(InstantAhead, "Ask about an instant that is over."),
    row(InstantNotResolved, "Ask the primary about the instant once; a replica then answers the same."),
    row(
        ReportTooLong,
        "Ask for CSV or XLSX, for a job, or for a shorter period.",
        section=text("The section that is too long."),
        rows=whole("How many rows it may have."),
    ),
    row(ReportTookTooLong, "Ask for a job, or for a shorter period."),
    row(HistoryTookTooLong, "Ask for a shorter period, or for less at once."),
    row(UnknownPeriod, "Take the number of the act from `GET /v1/closed-periods`."),
    row(PeriodConflict, "End after the last closed period, where the next one begins."),
    row(
        PeriodBeforeBooks,
        "State a later end. A period without an entry may be closed if the books begin before its end.",
    ),
    row(CursorAhead, "Go on from a cursor that comes from these books.", book=text("The book that ends earlier.")),
)

JOBS: Final = Section.of(
    "Jobs",
    row(UnknownJob, "Check the job's id, and whose key it was created with."),
    row(JobForbidden, "Have somebody of the house create the job."),
    row(JobConflict, "Give the other job a request id of its own.", job_id=text("The job that has the id.")),
    row(JobUnderWay, "Watch the job that is under way.", job_id=text("The job that is not over.")),
    row(JobsWaiting, "Wait for a job to end, or cancel one."),
    row(JobNotDone, "Read the job until its state is `done`.", state=text("The job's state.")),
    row(JobFileRemoved, "Create the job again under another request id."),
    row(
        PositionsUnknown,
        "Ask for positions that the books have.",
        jackpot_id=text("The jackpot."),
        stripe_no=whole("The stripe that has no such position.", is_always=False),
    ),
)

EXCEPTIONS: Final = Section.of(
    "Exceptions",
    row(UnknownException, "Read the list of exceptions again.", exception_id=text("The id.")),
    row(ExceptionAcknowledged, "Nothing is to be done.", exception_id=text("The exception.")),
    row(
        TwoPeopleRequired,
        "Ask for a `compensation` or a `declined-compensation`.",
        exception_id=text("The exception."),
    ),
)
