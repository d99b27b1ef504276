"""
The kind of job that makes a report as a file: what is too long to be waited for, or to be looked through in time.

Its instants are fixed when it is asked for, so it says what would have been answered then, whatever comes later. It is
done in one snapshot, and from the beginning each time: a runner of another version may not put its rows behind those
of the one before. It bears the time at which it was asked for, so that whoever does it makes the same bytes.
"""

import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy
from marshmallow import ValidationError, fields, validate

from jackpot_service.database.transactions import read
from jackpot_service.domain.closed_periods import KeptReport
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal
from jackpot_service.exports.files import csv_file, xlsx_file
from jackpot_service.exports.files.names import file_name
from jackpot_service.exports.jobs.kinds import Asker, JobForbidden, Json, Kind, Piece, Settled
from jackpot_service.reports import making, questions
from jackpot_service.reports.documents import Document, Section
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Asked, By, Report
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.questions import Question
from jackpot_service.usecases.fields import Identifier, Instant, InstantOrDay, ListOf, ReadField
from jackpot_service.usecases.payloads import Payload, load

ROWS: Final = 2_000
"""Rows of a piece: some hundred kilobytes of CSV."""

PIECE_BYTES: Final = 256 * 1024
"""Of a workbook, which is cut up when it is whole."""

MINUTE: Final = timedelta(minutes=1)

Pieces = Generator[Piece, None, None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A report, what is asked of it, and the file that it is to be; a CSV file is of one section, the first if None."""

    report: Report
    question: Question
    form: str
    section: str | None


class ByField(ReadField[By]):
    """What a report's figures are grouped by."""

    def read(self, value: object) -> By:
        """Raises: ValidationError."""
        if value in list(By):
            return By(str(value))
        message = f"must be one of {', '.join(By)}"
        raise ValidationError(message)


class ReportParameters(Payload):
    """Which report, what is asked of it, and as what file."""

    @staticmethod
    def makes(**given: Any) -> Wanted:  # noqa: ANN401  the fields below
        """Find the report. Raises: UnknownReport; BadQuestion for a section that the report does not have."""
        report, form, section = report_of(given.pop("name")), given.pop("form"), given.pop("section", None)
        frame.require_section(report, section)
        return Wanted(report, Question(**given), form, section)

    name = Identifier(required=True)
    form = fields.String(required=True, data_key="format", validate=validate.OneOf(["csv", "xlsx"]))
    section = Identifier()
    jackpot_id = Identifier()
    casino_id = Identifier()
    table_id = Identifier()
    round_id = Identifier()
    start = InstantOrDay(data_key="from")
    end = InstantOrDay(data_key="to")
    as_of = Instant()
    by = ListOf(ByField(), most=len(By))


def _read(parameters: Json) -> Wanted:
    wanted: Wanted = load(ReportParameters, parameters, at="/parameters")
    return wanted


def _require(principal: Principal, wanted: Wanted) -> None:
    if principal.casino_id is not None and not wanted.report.is_for_casinos:
        message = f"The report {wanted.report.name} is the house's; this key is a casino's."
        raise JobForbidden(message)


def _settle(engine: sqlalchemy.Engine, wanted: Wanted, asker: Asker) -> Settled:
    """Raises: as `questions` and `making.fix`; UnknownCasino for a casino that is not the asker's, if he has one."""
    report, now = wanted.report, asker.now
    question = questions.of_casino(wanted.question, asker.principal.casino_id)
    asked = read(engine, lambda session: questions.asked(session, report, question, asker.longest_open, now=now))
    asked = replace(asked, end=asked.end or now)
    making.fix(engine, report, asked, now=now)
    kept = read(engine, lambda session: frame.kept(session, report, asked))
    parameters = {
        "name": report.name,
        "format": wanted.form,
        "section": wanted.section,
        **_stated(asked),
        "made_at": instant(now),
        "kept": None if kept is None else {"report_version": kept.report_version, "sha256": kept.sha256},
    }
    return Settled(parameters, None, file_name(report.name, now, wanted.form), MEDIA_TYPES[wanted.form])


def _stated(asked: Asked) -> Json:
    return {
        "from": instant(asked.start),
        "to": instant(asked.end),
        "jackpot_id": asked.jackpot_id,
        "casino_id": asked.casino_id,
        "table_id": asked.table_id,
        "round_id": asked.round_id,
        "by": list(asked.by),
        "open_round_minutes": asked.longest_open // MINUTE,
    }


def _asked(parameters: Json) -> Asked:
    """What `_stated` wrote."""
    return Asked(
        start=None if parameters["from"] is None else datetime.fromisoformat(parameters["from"]),
        end=datetime.fromisoformat(parameters["to"]),
        jackpot_id=parameters["jackpot_id"],
        casino_id=parameters["casino_id"],
        table_id=parameters["table_id"],
        round_id=parameters["round_id"],
        by=tuple(map(By, parameters["by"])),
        longest_open=parameters["open_round_minutes"] * MINUTE,
    )


def report(*, rows: int = ROWS) -> Kind[Wanted]:
    """The kind, with pieces of so many rows."""

    def make(engine: sqlalchemy.Engine, parameters: Json, _position: Json | None) -> Pieces:
        made_at = datetime.fromisoformat(parameters["made_at"])
        with making.made(engine, report_of(parameters["name"]), _asked(parameters), now=made_at) as whole:
            kept = None if parameters["kept"] is None else KeptReport(**parameters["kept"])
            document = replace(whole.narrowed(parameters["section"]), kept=kept)
            yield from FORMS[parameters["format"]](document, rows)

    return Kind("report", _read, _require, _settle, make)


def _counted(section: Section) -> tuple[Section, int]:
    """How many rows a section has; those that are not too many to be held are, from here on."""
    if section.count is not None:
        return section, section.count()
    rows = list(section.rows)
    return replace(section, rows=rows), len(rows)


def _csv(document: Document, rows: int) -> Pieces:
    section, total = _counted(csv_file.section_of(document))
    lines = csv_file.lines(replace(document, sections=[section]))
    done = -1  # The header is no row.
    while some := list(islice(lines, rows)):
        done += len(some)
        yield Piece("".join(some).encode(), None, done, total)


def _xlsx(document: Document, rows: int) -> Pieces:
    """Nothing of a workbook can be handed over until it is whole; until then pieces only tell how far it is."""
    counted = [_counted(section) for section in document.sections]
    document, total = replace(document, sections=[one for one, _ in counted]), sum(count for _, count in counted)
    with tempfile.TemporaryFile() as file:
        done = 0
        for done, _ in enumerate(xlsx_file.steps(document, file), 1):
            if done % rows == 0:
                yield Piece(b"", None, done, total)
        file.seek(0)
        while content := file.read(PIECE_BYTES):
            yield Piece(content, None, done, total)


FORMS: Final[Mapping[str, Callable[[Document, int], Pieces]]] = MappingProxyType({"csv": _csv, "xlsx": _xlsx})

MEDIA_TYPES: Final = MappingProxyType({"csv": csv_file.MEDIA_TYPE, "xlsx": xlsx_file.MEDIA_TYPE})
