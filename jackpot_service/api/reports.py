"""Finance reports, as JSON or as files."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

import flask
from marshmallow import ValidationError, fields, validate

from jackpot_service.api import report_files
from jackpot_service.api.asgi import REPORTS as PATH
from jackpot_service.api.reading import at_replica, note_fresh, reads_of_call
from jackpot_service.api.refusals import WRITING, refused_with
from jackpot_service.api.request_context import Blueprint, answer, context, look, now, principal, report_place
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, described, listed, word
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.database import deadlines
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports import files, xlsx_file
from jackpot_service.exports.files import json_rows
from jackpot_service.reports import making, questions
from jackpot_service.reports.documents import ColumnType, Document, as_text
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.registry import REPORTS, report_of
from jackpot_service.reports.making import bounded, in_time, made
from jackpot_service.reports.questions import By, Question, QuestionSchema
from jackpot_service.usecases.fields import Identifier, ReadField

JSON, CSV, XLSX = "json", "csv", "xlsx"

FILES = {
    files.CSV_TYPE.partition(";")[0]: {"schema": {"type": "string"}},
    xlsx_file.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}},
}
"""The formats of a report besides JSON."""

blueprint = Blueprint("reports", __name__, url_prefix=PATH, description="Figures of the books as of any time.")


class Groupings(ReadField[tuple[By, ...]]):
    """Groupings: names, with commas between."""

    described: ClassVar = {"type": "string", "description": f"Of {', '.join(By)}, with commas between."}

    def read(self, value: object) -> tuple[By, ...]:
        """Raises: ValidationError."""
        names = str(value).split(",", len(By))
        if set(names) <= set(By) and len(set(names)) == len(names):
            return tuple(map(By, names))
        message = f"must be of {', '.join(By)}, with commas between, each once"
        raise ValidationError(message)


class ReportQuerySchema(QuestionSchema, RequestSchema):
    """A question about a report, and the format of the answer: `from` is included, `to` and `as_of` are not."""

    by = Groupings()
    format = fields.String(load_default=JSON, validate=validate.OneOf([JSON, CSV, XLSX]))
    section = Identifier(
        load_default=None, metadata={"description": "Only this one. A CSV file holds one: the first, unless stated."}
    )


class ColumnSchema(AnswerSchema):
    """A column of a section."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    type = word(ColumnType, "The type of its values.")
    currency = described(fields.String, "Of amounts: their currency.", allow_none=True)
    currency_in = described(fields.String, "Of amounts: the column that has each row's currency.", allow_none=True)


class Rows(fields.List[Any]):
    """The rows of a section. There may be ten thousand, so nothing looks at each again."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(fields.Dict(), **kwargs)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **_: Any) -> list[Any]:  # noqa: ANN401, ARG002  as the base
        return list(json_rows(obj))


class SectionSchema(AnswerSchema):
    """A table of a report."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    columns = listed(ColumnSchema)
    rows = Rows(required=True, metadata={"description": "By column; counts are numbers, all else exact texts."})


class DocumentTime(fields.DateTime):
    """A time as all forms of a report write it."""

    def _serialize(self, value: datetime | None, *_: Any, **__: Any) -> str | None:  # noqa: ANN401  as the base
        return None if value is None else as_text(value)


_POSITIONS: Final = fields.List(fields.Integer())


class ReportSchema(AnswerSchema):
    """A report that was made."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    signs = described(
        fields.String, "Of a report of balances: who owes a positive one; null of any other.", allow_none=True
    )
    version = described(fields.String, "Of the service that made it.")
    made_at = DocumentTime(required=True)
    start = described(DocumentTime, "Included; null is the beginning of the books.", data_key="from", allow_none=True)
    end = described(DocumentTime, "Not included; null is all that was booked.", data_key="to", allow_none=True)
    scope = described(fields.Dict, "The other parameters.")
    positions = described(fields.Dict, "By book: each stripe's last entry that counts.", values=_POSITIONS)
    opening_positions = described(
        fields.Dict, "By jackpot that was open then: each stripe's last entry before `from`.", values=_POSITIONS
    )
    report_version = described(
        fields.Integer,
        "Of the report: raised when the same books make it say something else.",
        attribute="report_version",
    )
    closed_report_version = described(
        fields.Integer,
        "The version of the report when exactly this period was closed; null if it was not.",
        attribute="kept_report.report_version",
        allow_none=True,
    )
    content_sha256 = described(
        fields.String,
        "The SHA-256 of its content when its period was closed; null if that was another version of it.",
        attribute="content_sha256",
        allow_none=True,
    )
    sections = listed(SectionSchema)


_REPORT: Final = ReportSchema()


class ReportNameSchema(AnswerSchema):
    """A report that can be made."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    required = described(fields.List, "Required parameters.", cls_or_instance=fields.String())
    optional = described(
        fields.List, "Optional parameters, besides jackpot, period and instant.", cls_or_instance=fields.String()
    )
    by = described(fields.List, "Its groupings.", cls_or_instance=fields.String())
    default = described(fields.List, "Its groupings where a query names none.", cls_or_instance=fields.String())
    sections = described(fields.List, "The names of its sections.", cls_or_instance=fields.String())


class ReportNamesSchema(AnswerSchema):
    """The reports there are."""

    items = listed(ReportNameSchema)


@blueprint.route("", methods=["GET"])
@allow(Role.FINANCE, Role.AUDITOR)
@blueprint.response(200, ReportNamesSchema())
def get_reports() -> Mapping[str, Any]:
    """List the reports there are, and their parameters."""
    items = [
        {
            "name": report.name,
            "title": report.title,
            "required": sorted(report.required),
            "optional": sorted(report.optional),
            "by": report.by,
            "default": report.default or report.by[:1],
            "sections": report.sections,
        }
        for report in reports_for(principal())
    ]
    return {"items": items}


def reports_for(reader: Principal) -> Sequence[Report]:
    """Return the reports that somebody may read: of a casino, those that are for casinos."""
    return [report for report in REPORTS.values() if report.is_for_casinos or reader.casino_id is None]


@blueprint.route("/<id:name>", methods=["GET"])
@allow(Role.FINANCE, Role.AUDITOR)
@at_replica
@refused_with(
    *WRITING,
    "casino-unknown",
    "instant-ahead",
    "instant-not-resolved",
    "jackpot-unknown",
    "question-invalid",
    "report-too-long",
    "report-took-too-long",
    "report-unknown",
    "round-unknown",
    "table-unknown",
    "unknown-currency",
)
@blueprint.arguments(ReportQuerySchema(), location="query")
@blueprint.response(200, ReportSchema())
@blueprint.doc(responses={200: {"content": FILES}})
def get_report(query: Mapping[str, Any], name: str) -> flask.Response:
    """
    Make a report; for the same period, or as of the same instant, it gives the same figures for ever.

    JSON shows 10,000 rows of a section at most, files have no such bound. As CSV a report is sent while it is read; if
    something goes wrong on the way, the last line says that the file is not complete.
    """
    return answered(query, name)


@dataclass(frozen=True, slots=True)
class OpenReport:
    """
    A report whose rows are being read, or the section of it that was named.

    `opened` closes what they are read from; no row is to be read after `until`, by the monotonic clock.
    """

    document: Document
    opened: ExitStack
    until: float

    @property
    def in_time(self) -> Document:
        """The report, of which no row is read too late. Raises, while its rows are read: ReportTookTooLong."""
        return in_time(self.document, self.until)


@contextmanager
def opened_report(query: Mapping[str, Any], name: str) -> Iterator[OpenReport]:
    """
    Make the report that a query asks for; its rows can be read as long as the block runs.

    Raises: as `get_report` answers.
    """
    report = report_of(name)
    question = _question(report, query)
    frame.require_section(report, query["section"])
    with opened_question(report, question, query["section"]) as opened:
        yield opened


@contextmanager
def opened_question(report: Report, question: Question, section: str | None = None) -> Iterator[OpenReport]:
    """
    Make a report by a question, within the places and the time that reports have; see `opened_report`.

    Raises: as `get_report` answers.
    """
    config = context().config
    until = time.monotonic() + config.report_timeout_s
    with deadlines.anew(config.report_timeout_s + config.request_timeout_s), ExitStack() as opened:
        opened.enter_context(report_place())
        at = now()
        parameters = look(lambda session: making.parameters_of(session, report, question, config.longest_open, now=at))
        whole = opened.enter_context(
            made(reads_of_call(context().reads), report, parameters, now=at, longest_s=config.report_timeout_s)
        )
        note_fresh(whole.fresh_at)
        yield OpenReport(whole.narrowed(section), opened, until)


def answered(query: Mapping[str, Any], name: str) -> flask.Response:
    """Answer a report in the format that a query asks for."""
    with opened_report(query, name) as report:
        if query["format"] == CSV:
            return report_files.csv(report.document, report.opened)
        if query["format"] == XLSX:
            return report_files.workbook(report.in_time)
        return answer(_REPORT.dump(bounded(report.in_time)))  # Here, since rows are read while they are written.


def _question(report: Report, query: Mapping[str, Any]) -> Question:
    """Raises: RoleForbidden, UnknownCasino for a report that a casino's key may not see."""
    if not report.is_for_casinos:
        require_house(principal())
    return questions.within_casino(questions.question_of(query), principal().casino_id)
