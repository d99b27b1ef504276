"""The statement of a casino: what it owes or is owed, day by day, and which statements two people settled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.casinos import CasinosQuerySchema
from jackpot_service.api.lists import page
from jackpot_service.api.problems import problem_of
from jackpot_service.api.reports import opened_report
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.casinos import Casino
from jackpot_service.domain.changes import Change
from jackpot_service.domain.errors import Conflict, LedgerError, NotFound, Refused
from jackpot_service.domain.money import plain
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_links import Links
from jackpot_service.pages.choices import choices_of
from jackpot_service.pages.drill_down import links_of
from jackpot_service.pages.lists import ReadQuery, address_with, read_place
from jackpot_service.pages.report_forms import LABELS, Field, field_of, read_parameters
from jackpot_service.pages.reports import READERS
from jackpot_service.pages.shown_reports import ShownSection, Window, shown_sections
from jackpot_service.records import acts, changes, references
from jackpot_service.reports.documents import Document, Row, as_text
from jackpot_service.reports.finance import casino_statement
from jackpot_service.reports.making import ReportTookTooLong
from jackpot_service.usecases.changes.statement_settlement import SettleStatement

NAME: Final = casino_statement.REPORT.name

FIELDS: Final = ("from", "to", "as_of", "jackpot_id")

ROWS: Final = 400
"""Rows of a section: more than the days of a year."""

_REFUSALS: Final = (Refused, Conflict, NotFound, ReportTookTooLong)

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Owed:
    """An account of the statement: its closing balance, positive where the casino owes it, and where to settle it."""

    jackpot_id: str
    currency: str
    closing: Decimal
    settle_address: str | None


@dataclass(frozen=True, slots=True)
class SignedOff:
    """A statement that was settled: its reference and act, and the change request by which two people did so."""

    reference: str
    act: int
    change: Change | None


@blueprint.route("/statements", methods=["GET"])
@people(*READERS)
def show_statements() -> Response:
    """List the casinos whose statements there are; somebody of a casino is led to its own."""
    casino_id = principal().casino_id
    if casino_id is not None:
        return flask.redirect(flask.url_for("pages.show_statement", casino_id=casino_id), HTTPStatus.SEE_OTHER)
    query = read_place(CasinosQuerySchema())

    def rows(session: Session, limit: int) -> Sequence[Casino]:
        return references.casinos(session, principal(), limit=limit, after=query.values["after"])

    listed = page(query.values, rows, lambda casino: casino.casino_id)
    html = flask.render_template(
        "statements.html",
        casinos=listed["items"],
        months=_months(),
        next_page=address_with({}, after=listed["next"]) if listed["next"] else None,
        first_page=address_with({}) if "after" in query.typed else None,
    )
    return flask.Response(html)


@blueprint.route("/statements/<id:casino_id>", methods=["GET"])
@people(*READERS)
def show_statement(casino_id: str) -> Response:
    """Show the statement of a casino, of the period in the address. Raises: UnknownCasino, also for another's."""
    casino = look(lambda session: references.visible_casino(session, principal(), casino_id))
    args = flask.request.args
    query = read_parameters({name: args.get(name, "") for name in FIELDS} | {"casino_id": casino_id})
    if query.errors:
        return flask.Response(_page(casino, query, None, ()), HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        with opened_report(query.values, NAME) as opened:
            document = opened.document
            sections = list(shown_sections(document, Window(0, ROWS, is_exact=False), links_of(document)))
    except _REFUSALS as error:
        return _refused(casino, query, error)
    return flask.Response(_page(casino, query, document, sections))


def _refused(casino: Casino, query: ReadQuery, error: LedgerError) -> Response:
    field = field_of(error, query.values, now=now())
    read = ReadQuery(query.typed, {}, {field: error.detail} if field else {})
    html = _page(casino, read, None, (), alert="" if field else error.detail)
    return flask.Response(html, problem_of(error, instance=flask.request.path).status)


def _page(
    casino: Casino, query: ReadQuery, document: Document | None, sections: Sequence[ShownSection], *, alert: str = ""
) -> str:
    rows = {} if document is None else {section.name: list(section.rows) for section in document.sections}
    is_of_house, links, choices = principal().casino_id is None, Links(), choices_of(FIELDS)
    return flask.render_template(
        "statement.html",
        casino=casino,
        document=document,
        sections=sections,
        owed=[] if document is None else [_owed(document, casino, links, row) for row in rows["accounts"]],
        signed_off=_signed_off(rows.get("settled", ())) if is_of_house else (),
        fields=[
            Field(
                name,
                LABELS[name],
                query.typed.get(name, ""),
                choices=choices.get(name, {}),
                error=query.errors.get(name, ""),
            )
            for name in FIELDS
        ],
        alert=alert,
        months=_months(),
        is_of_house=is_of_house,
        file_address=lambda **more: _file_address(query.typed, **more),
        as_of_address=None if document is None else _as_of(query.typed, document),
    )


def _as_of(typed: Mapping[str, str], document: Document) -> str:
    stated = {name: value for name, value in typed.items() if name in FIELDS}
    return address_with({**stated, "as_of": as_text(document.made_at)})


def _file_address(typed: Mapping[str, str], **more: str) -> str:
    stated: dict[str, Any] = {**typed, **more}
    return flask.url_for("pages.send_report", name=NAME, **stated)


def _months() -> Mapping[str, Mapping[str, str]]:
    """Return the periods that are asked for most, as a query states them: of gaming days."""
    first = now().date().replace(day=1)
    before = (first - _DAY).replace(day=1)
    return {
        "This month so far": {"from": first.isoformat()},
        "Last month": {"from": before.isoformat(), "to": first.isoformat()},
    }


def _owed(document: Document, casino: Casino, links: Links, row: Row) -> Owed:
    named = dict(zip((column.name for column in casino_statement.ACCOUNTS), row, strict=True))
    jackpot_id, currency, closing = str(named["jackpot_id"]), str(named["currency"]), named["closing"]
    assert isinstance(closing, Decimal)  # noqa: S101  narrows a type
    stated = {"jackpot_id": jackpot_id, "casino_id": casino.casino_id, "currency": currency, "amount": plain(closing)}
    stated |= {"from": as_text(document.start), "to": as_text(document.end)}
    return Owed(jackpot_id, currency, closing, links.address(SettleStatement.name, **stated) if closing else None)


def _signed_off(rows: Sequence[Row]) -> Sequence[SignedOff]:
    """Return who signed off the statements that were settled, in their order."""
    names = [column.name for column in casino_statement.SETTLED]
    settled = [dict(zip(names, row, strict=True)) for row in rows[:ROWS]]
    return look(lambda session: [_signed_off_by(session, str(row["reference"]), row["act"]) for row in settled])


def _signed_off_by(session: Session, reference: str, act: Any) -> SignedOff:  # noqa: ANN401  a value of a row
    recorded = next(iter(acts.acts_of(session, [act])), None)
    request_id = None if recorded is None else recorded.decides
    return SignedOff(reference, act, None if request_id is None else changes.find(session, request_id))
