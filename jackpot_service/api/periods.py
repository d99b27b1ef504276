"""
Closed periods: what finance has reported, and does not change any more.

A period is closed in two steps: its reports are made and hashed, then it is written that they said so.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy
from marshmallow import fields

from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.reading import at_replica, note_fresh, reads_of_call
from jackpot_service.api.refusals import WRITING, refused_with
from jackpot_service.api.request_context import Blueprint, context, look, now, principal, report_place, signed
from jackpot_service.api.schemas import (
    AnswerSchema,
    Moment,
    ReasonedSchema,
    WrittenSchema,
    described,
    listed,
    word,
)
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.database import deadlines
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import read, rehearse, transact
from jackpot_service.domain.closed_periods import (
    ClosedPeriod,
    KeptReport,
    Period,
    facts_of,
    require_begun,
    require_next,
)
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from jackpot_service.records import checkpoints
from jackpot_service.reports.checkpoints import period_of_act
from jackpot_service.reports.documents import sha256_of
from jackpot_service.reports.finance import registry
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.period import midnight
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.making import in_time, made, require_past
from jackpot_service.reports.questions import Parameters
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.close_period import ClosePeriod, PeriodClosed, close_period, closed_before
from jackpot_service.usecases.fields import ReadField
from jackpot_service.usecases.readers import instant_or_day


def closed(engine: sqlalchemy.Engine, act: Act, end: datetime, *, longest_s: float | None = None) -> PeriodClosed:
    """
    Close the period from the end of the last one up to `end`, not included; return whether it was closed so before.

    Each of its reports is read for `longest_s` at most, unless that is None.

    Raises: RequestConflict; InstantAhead; PeriodConflict; PeriodBeforeBooks; ReportTookTooLong.
    """
    replayed = rehearse(engine, lambda session: closed_before(session, act, instant(end)))
    if replayed is not None:
        return PeriodClosed(replayed, is_replay=True)
    require_past(end, now=act.now)
    last = read(engine, checkpoints.last_period)
    period = Period(None if last is None else last.period.end, end)
    require_next(period, last=None if last is None else last.period, now=act.now)
    require_begun(period, begun_at=read(engine, checkpoints.books_begun_at))
    kept_reports = {
        report.name: KeptReport(
            report.report_version, _sha256(Reads(engine), report, period, now=act.now, longest_s=longest_s)[0]
        )
        for report in registry.REPORTS.values()
        if report.is_kept
    }
    command = ClosePeriod(act, period, kept_reports)
    return transact(engine, lambda session: close_period(session, command))


def _sha256(
    reads: Reads, report: Report, period: Period, *, now: datetime, longest_s: float | None
) -> tuple[str, float | None]:
    """Return the hash of a report of a period, and the instant of `fresh_at` where it was read at the replica."""
    until = math.inf if longest_s is None else time.monotonic() + longest_s
    parameters = Parameters(start=period.start, end=period.end)
    with made(reads, report, parameters, now=now, longest_s=longest_s) as document:
        return sha256_of(in_time(document, until)), document.fresh_at


blueprint = Blueprint(
    "closed-periods", __name__, url_prefix="/v1/closed-periods", description="Periods that finance has closed."
)


class Edge(ReadField[datetime]):
    """The edge of a closed period, which is of the whole house: a day is a UTC one."""

    described: ClassVar = {"type": "string", "description": "A time by RFC 3339, or a day, which begins at 00:00 UTC."}

    def read(self, value: object) -> datetime:
        """Raises: ValidationError."""
        edge = instant_or_day(value)
        return edge if isinstance(edge, datetime) else midnight(edge)


class ClosingSchema(ReasonedSchema):
    """Up to when, and why; a period begins where the one before ended."""

    end = Edge(data_key="to", required=True)


class KeptReportSchema(AnswerSchema):
    """The hash of a report."""

    report_version = described(fields.Integer, "Of the report: raised when the same books make it say something else.")
    sha256 = fields.String(required=True)


class ClosedPeriodSchema(WrittenSchema):
    """A closed period."""

    @staticmethod
    def write(closed: ClosedPeriod) -> dict[str, Any]:
        """Write a closed period as its act shows it."""
        facts = facts_of(closed.period, closed.reports)
        return {"start": facts["from"], "end": facts["to"], "reports": facts["reports"], "act": closed.entry_seq}

    start = described(Moment, "Included; null is the beginning of the books.", data_key="from", allow_none=True)
    end = described(Moment, "Not included.", data_key="to")
    reports = fields.Dict(keys=fields.String(), values=fields.Nested(KeptReportSchema()), required=True)
    act = described(fields.Integer, "The act that closed it, in the audit trail.")


@blueprint.route("", methods=["GET"])
@allow(Role.FINANCE, Role.AUDITOR)
@at_replica
@blueprint.arguments(ListQuerySchema(), location="query")
@blueprint.response(200, page_schema(ClosedPeriodSchema, "ClosedPeriods"))
def get_closed_periods(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the periods that are closed, the latest first."""
    require_house(principal())
    return page(
        query,
        lambda session, limit: checkpoints.latest_periods(session, limit=limit, before=query["after"]),
        lambda period: cursor(period.entry_seq),
    )


@blueprint.route("", methods=["POST"])
@allow(Role.FINANCE)
@refused_with(
    "instant-ahead",
    "instant-not-resolved",
    "period-before-books",
    "period-conflict",
    "report-took-too-long",
    "request-conflict",
)
@blueprint.arguments(ClosingSchema())
@blueprint.response(201, ClosedPeriodSchema())
@blueprint.alt_response(200, schema=ClosedPeriodSchema(), description="The same closing again.")
def post_closed_period(body: Mapping[str, Any]) -> tuple[ClosedPeriod, int]:
    """Close everything before an instant that is over: what its reports say is kept by hashes."""
    require_house(principal())
    done = close_by(body)
    return done.period, 200 if done.is_replay else 201


def close_by(body: Mapping[str, Any]) -> PeriodClosed:
    """Close the period that a request states. Raises: as `post_closed_period` answers."""
    longest_s = context().config.report_timeout_s
    # Each report may take so long; the rest is a call as any other.
    with deadlines.anew(longest_s * len(REPORTS) + context().config.request_timeout_s), report_place():
        return closed(context().engine, signed(body), body["end"], longest_s=longest_s)


class Comparison(StrEnum):
    """The outcome of figuring a kept report again."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_COMPARED = "not-compared"


class ComparedReportSchema(AnswerSchema):
    """A kept report, and what it says now."""

    name = fields.String(required=True)
    report_version = described(fields.Integer, "Of the report that was kept.")
    kept_sha256 = fields.String(required=True)
    report_version_now = described(fields.Integer, "Null if there is no such report any more.", allow_none=True)
    sha256 = described(
        fields.String, "Of what the books say now; null if the report is of another version.", allow_none=True
    )
    outcome = word(Comparison)


class ComparedPeriodSchema(AnswerSchema):
    """The reports of a closed period, figured again."""

    items = listed(ComparedReportSchema)


@blueprint.route("/<number:act>/comparison", methods=["GET"])
@allow(Role.FINANCE, Role.AUDITOR)
@at_replica
@refused_with(*WRITING, "instant-not-resolved", "period-unknown", "report-took-too-long")
@blueprint.response(200, ComparedPeriodSchema())
def get_closed_period_comparison(act: int) -> Mapping[str, Any]:
    """Figure the reports of a closed period again, and compare them with their hashes; `act` is the one of the list."""
    return {"items": compared_with(look(lambda session: period_of_act(session, principal(), act)))}


@dataclass(frozen=True, slots=True)
class ComparedReport:
    """A kept report, and what it says now: nothing if it is of another version, or there is none any more."""

    name: str
    report_version: int
    kept_sha256: str
    report_version_now: int | None
    sha256: str | None

    @property
    def outcome(self) -> Comparison:
        """The outcome."""
        if self.sha256 is None:
            return Comparison.NOT_COMPARED
        return Comparison.SAME if self.sha256 == self.kept_sha256 else Comparison.DIFFERS


def compared_with(closed: ClosedPeriod) -> Sequence[ComparedReport]:
    """Figure the reports of a closed period again, by name. Raises: InstantNotResolved; ReportTookTooLong."""
    longest_s = context().config.report_timeout_s
    with deadlines.anew(longest_s * len(REPORTS) + context().config.request_timeout_s), report_place():
        return [_compared(name, stored, closed.period, longest_s) for name, stored in sorted(closed.reports.items())]


def _compared(name: str, stored: KeptReport, period: Period, longest_s: float) -> ComparedReport:
    report = registry.REPORTS.get(name)
    version = None if report is None else report.report_version
    sha256 = None
    if report is not None and version == stored.report_version:
        sha256, fresh_at = _sha256(reads_of_call(context().reads), report, period, now=now(), longest_s=longest_s)
        note_fresh(fresh_at)
    return ComparedReport(name, stored.report_version, stored.sha256, version, sha256)
