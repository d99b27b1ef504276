"""Reports as somebody got them, from the books or over HTTP: in one form, so that they can be compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

import sqlalchemy
from flask.testing import FlaskClient

from jackpot_service.database.reads import Reads
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.documents import as_text
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.making import made
from jackpot_service.reports.questions import Parameters
from tests.support import equations
from tests.support.answers import Answer, Body
from tests.support.asking import stated


@dataclass(frozen=True)
class ShownReports:
    """A report: its name, its period, the positions it stands on, and its rows as texts by column, by section."""

    name: str
    start: datetime | None
    end: datetime | None
    positions: Mapping[str, Positions]
    rows: equations.Sections

    def require_equations(self) -> None:
        equations.require(self.name, self.rows)


def by_books(
    engine: sqlalchemy.Engine, name: str, *, start: datetime | None = None, end: datetime | None = None, now: datetime
) -> ShownReports:
    """Ask the books for a report, as every door does."""
    report = report_of(name)
    parameters = Parameters(start=start, end=end, casino_id=stated(report).get("casino_id"))
    with made(Reads(engine), report, parameters, now=now) as document:
        rows: dict[str, equations.Rows] = {}
        for section in document.sections:
            names = [column.name for column in section.columns]
            rows[section.name] = [dict(zip(names, map(as_text, row), strict=True)) for row in section.rows]
        return ShownReports(name, start, end, dict(document.positions), rows)


def over_http(
    client: FlaskClient, key: str, name: str, *, start: datetime | None = None, end: datetime | None = None
) -> ShownReports:
    """Ask a service for a report."""
    edges = {"from": start, "to": end}
    query = {edge: _instant(at) for edge, at in edges.items() if at is not None} | stated(report_of(name))
    path = f"/v1/reports/{name}?{urlencode(query)}"
    document = Answer.of(client.get(path, headers={"Authorization": f"Bearer {key}"})).ok()
    positions = {book: tuple(seqs) for book, seqs in document["positions"].items()}
    rows = {section["name"]: list(map(_texts, section["rows"])) for section in document["sections"]}
    return ShownReports(name, start, end, positions, rows)


def _instant(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"


def _texts(row: Body) -> Mapping[str, str]:
    return {name: "" if value is None else str(value) for name, value in row.items()}
