"""
The kind of job that makes a report as a file: one that takes too long, or has too many rows, to be answered at once.

Its instants are fixed when it is requested, so it says what would have been answered then, whatever comes later. It is
done in one snapshot, and from the beginning each time: a worker of another version may not put its rows behind those of
the one before. It bears the time of the request, so that each worker makes the same bytes.
"""

import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy
from marshmallow import fields, validate

from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import read
from jackpot_service.domain.closed_periods import KeptReport
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal
from jackpot_service.exports import files, xlsx_file
from jackpot_service.exports.files import file_name
from jackpot_service.exports.jobs.kinds import JobForbidden, Json, Kind, Piece, Requester, Settled
from jackpot_service.reports import making, questions
from jackpot_service.reports.documents import Document, Section
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.questions import Parameters, Question, QuestionSchema
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.payloads import Payload, load

ROWS: Final = 2_000
"""Rows of a piece: some hundred kilobytes of CSV."""

PIECE_BYTES: Final = 256 * 1024
"""Of a workbook, which is cut up when it is whole."""

Pieces = Generator[Piece, None, None]


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A report, a question about it, and the format of its file; a CSV file is of one section, the first if None."""

    report: Report
    question: Question
    form: str
    section: str | None


class ReportParameters(QuestionSchema, Payload):
    """The name of a report, a question about it, and the format of its file."""

    name = Identifier(required=True)
    form = fields.String(required=True, data_key="format", validate=validate.OneOf(["csv", "xlsx"]))
    section = Identifier()

    @staticmethod
    def makes(*, name: str, form: str, section: str | None = None, **question: Any) -> FileRequest:  # noqa: ANN401  of the fields
        """Find the report. Raises: UnknownReport; BadQuestion for a section that the report does not have."""
        report = report_of(name)
        frame.require_section(report, section)
        return FileRequest(report, Question(**question), form, section)


def _read(parameters: Json) -> FileRequest:
    request: FileRequest = load(ReportParameters, parameters, at="/parameters")
    return request


def _require(principal: Principal, request: FileRequest) -> None:
    if principal.casino_id is not None and not request.report.is_for_casinos:
        message = f"The report {request.report.name} is the house's; this key is a casino's."
        raise JobForbidden(message)


def _settle(engine: sqlalchemy.Engine, request: FileRequest, requester: Requester) -> Settled:
    """Raises: as `making.parameters_of` and `making.fix`; UnknownCasino for a casino that is not the key's own."""
    report, now = request.report, requester.now
    question = questions.within_casino(request.question, requester.principal.casino_id)
    parameters = read(
        engine, lambda session: making.parameters_of(session, report, question, requester.longest_open, now=now)
    )
    parameters = replace(parameters, end=parameters.end or now)
    making.fix(engine, report, parameters, now=now)
    kept_report = read(engine, lambda session: frame.kept_report_of(session, report, parameters))
    settled = {
        "name": report.name,
        "format": request.form,
        "section": request.section,
        **parameters.as_json(),
        "made_at": instant(now),
        "kept": None if kept_report is None else asdict(kept_report),
    }
    return Settled(settled, None, file_name(report.name, now, request.form), MEDIA_TYPES[request.form])


def report(*, rows: int = ROWS) -> Kind[FileRequest]:
    """The kind, with pieces of so many rows."""

    def make(reads: Reads, parameters: Json, _position: Json | None) -> Pieces:
        made_at = datetime.fromisoformat(parameters["made_at"])
        with making.made(reads, report_of(parameters["name"]), Parameters.from_json(parameters), now=made_at) as whole:
            kept_report = None if parameters["kept"] is None else KeptReport(**parameters["kept"])
            document = replace(whole.narrowed(parameters["section"]), kept_report=kept_report)
            yield from FORMS[parameters["format"]](document, rows)

    return Kind("report", _read, _require, _settle, make)


def _counted(section: Section) -> tuple[Section, int]:
    """How many rows a section has; those that are not too many to be held are, from here on."""
    if section.count is not None:
        return section, section.count()
    rows = list(section.rows)
    return replace(section, rows=rows), len(rows)


def _csv(document: Document, rows: int) -> Pieces:
    section, total = _counted(files.section_of(document))
    lines = files.csv_lines(replace(document, sections=[section]))
    done = -1  # The header is no row.
    while some := list(islice(lines, rows)):
        done += len(some)
        yield Piece("".join(some).encode(), None, done, total)


def _xlsx(document: Document, rows: int) -> Pieces:
    """Nothing of a workbook can be handed over until it is whole; until then pieces only show the progress."""
    counted = [_counted(section) for section in document.sections]
    document, total = (
        replace(document, sections=[section for section, _ in counted]),
        sum(count for _, count in counted),
    )
    with tempfile.TemporaryFile() as file:
        done = 0
        for done, _ in enumerate(xlsx_file.steps(document, file), 1):
            if done % rows == 0:
                yield Piece(b"", None, done, total)
        file.seek(0)
        while content := file.read(PIECE_BYTES):
            yield Piece(content, None, done, total)


FORMS: Final[Mapping[str, Callable[[Document, int], Pieces]]] = MappingProxyType({"csv": _csv, "xlsx": _xlsx})

MEDIA_TYPES: Final = MappingProxyType({"csv": files.CSV_TYPE, "xlsx": xlsx_file.MEDIA_TYPE})
