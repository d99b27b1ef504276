"""Reports: the list, and a page of each, made from the report's own description; files as the API sends them."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.parsing import Invalid, error_of_parameter
from jackpot_service.api.problems import problem_of
from jackpot_service.api.reports import answered, opened_report, reports_for
from jackpot_service.api.request_context import now, principal
from jackpot_service.domain.errors import Conflict, LedgerError, Refused
from jackpot_service.domain.errors import NotFound as NotFoundInBooks
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.principals import Role
from jackpot_service.exports.files import file_name
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.choices import Choices, choices_of
from jackpot_service.pages.drill_down import links_of
from jackpot_service.pages.figures import label
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.lists import ReadQuery, address_with
from jackpot_service.pages.report_forms import PARAMETERS, field_of, fields_of, is_whole, read_parameters
from jackpot_service.pages.report_words import ABOUT
from jackpot_service.pages.shown_reports import ShownSection, Window, shown_sections
from jackpot_service.reports.documents import Document, as_text
from jackpot_service.reports.finance.frame import Report
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.making import MOST_ROWS, ReportTookTooLong

READERS: Final = (Role.FINANCE, Role.AUDITOR)

ROWS_OF_EACH: Final = 50
"""Rows of each section where all are shown."""

ROWS_A_PAGE: Final = 200
"""Rows of a section that is shown by itself."""

_REFUSALS: Final = (Refused, Conflict, NotFoundInBooks, ReportTookTooLong)

_LONGEST_PLACE: Final = len(str(MOST_ROWS))


@blueprint.route("/reports", methods=["GET"])
@people(*READERS)
def show_reports() -> str:
    """List the reports that somebody may read."""
    return flask.render_template(
        "reports.html", reports=reports_for(principal()), about=ABOUT, is_of_house=_is_of_house()
    )


@blueprint.route("/reports/<id:name>", methods=["GET"])
@people(*READERS)
def show_report(name: str) -> Response:
    """Show a report, as the query in the address asks for it. Raises: UnknownReport; NotFound for one of the house."""
    report = _report(name)
    typed = _typed()
    if not _is_canonical(typed):
        return flask.redirect(address_with(typed), HTTPStatus.SEE_OTHER)
    query = read_parameters({parameter: typed.get(parameter, "") for parameter in PARAMETERS})
    if query.errors or not is_whole(report, principal(), query.typed):
        status = HTTPStatus.UNPROCESSABLE_ENTITY if query.errors else HTTPStatus.OK
        return flask.Response(_page(report, query, None, ()), status)
    try:
        with opened_report(query.values, name) as opened:
            document = opened.document
            sections = list(shown_sections(opened.in_time, _window(query), links_of(document)))
    except _REFUSALS as error:
        return _refused(report, query, error)
    return flask.Response(_page(report, query, document, sections))


@blueprint.route("/reports/<id:name>/file", methods=["GET"])
@people(*READERS)
def send_report(name: str) -> flask.Response:
    """Send a report as a file: the bytes that the API answers. Raises: as `GET /v1/reports/{name}`; NotFound."""
    _report(name)
    typed = {parameter: flask.request.args.get(parameter, "") for parameter in (*PARAMETERS, "format")}
    query = read_parameters(typed)
    if query.errors:
        raise Invalid(tuple(error_of_parameter(*error) for error in query.errors.items()))
    response = answered(query.values, name)
    if "Content-Disposition" not in response.headers:
        response.headers["Content-Disposition"] = f'attachment; filename="{file_name(name, now(), "json")}"'
    return response


def _report(name: str) -> Report:
    """Raises: UnknownReport; NotFound for one that somebody may not read, as if it were not there."""
    report = report_of(name)
    if report not in reports_for(principal()):
        raise NotFound
    return report


def _is_of_house() -> bool:
    return principal().casino_id is None


def _typed() -> dict[str, str]:
    """Return the query of the address by name; a form names a parameter that it takes several of more than once."""
    args = flask.request.args
    return {
        name: ",".join(filter(None, map(str.strip, args.getlist(name)))) for name in (*PARAMETERS, "first", "exact")
    }


def _is_canonical(typed: Mapping[str, str]) -> bool:
    """Whether the address states what it states once, and nothing empty: so it can be sent on as it is."""
    stated = [(name, value) for name, value in flask.request.args.items(multi=True) if name in typed]
    return all(value for _, value in stated) and len({name for name, _ in stated}) == len(stated)


def _window(query: ReadQuery) -> Window:
    """Return which rows are shown: those from the place in the address on, of one section; of all, the first."""
    is_exact = flask.request.args.get("exact") == "true"
    if query.values["section"] is None:
        return Window(0, ROWS_OF_EACH, is_exact)
    text = flask.request.args.get("first", "")
    place = int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_PLACE else 0
    return Window(place if place < MOST_ROWS else 0, ROWS_A_PAGE, is_exact)


def _refused(report: Report, query: ReadQuery, error: LedgerError) -> Response:
    """Show the form again, with what is wrong at its field, or above it, in the words of the API."""
    field = field_of(error, query.values, now=now())
    if field not in {each.name for each in fields_of(report, principal(), query, {})}:
        field = ""
    errors = {field: error.detail} if field else {}
    page = _page(
        report,
        ReadQuery(query.typed, {}, errors),
        None,
        (),
        alert="" if field else error.detail,
        is_too_long=isinstance(error, ReportTookTooLong),
    )
    return flask.Response(page, problem_of(error, instance=flask.request.path).status)


def _page(
    report: Report,
    query: ReadQuery,
    document: Document | None,
    sections: Sequence[ShownSection],
    *,
    alert: str = "",
    is_too_long: bool = False,
) -> str:
    stated = {name: value for name, value in query.typed.items() if name != "section"}
    section = query.typed.get("section")
    is_exact = flask.request.args.get("exact") == "true"
    exact = "true" if is_exact else None
    return flask.render_template(
        "report.html",
        report=report,
        document=document,
        sections=sections,
        fields=fields_of(report, principal(), query, _choices()),
        hidden=[(name, query.typed[name]) for name in ("section",) if name in query.typed],
        is_stated=bool(stated),
        section=section,
        alert=alert,
        is_too_long=is_too_long,
        file_address=lambda **more: _file_address(report, query.typed, **more),
        section_address=lambda name=None: address_with(stated, section=name, exact=exact),
        page_address=lambda first: address_with(query.typed, first=str(first) if first else None, exact=exact),
        as_of_address=None if document is None else address_with({**query.typed, "as_of": as_text(document.made_at)}),
        exact_address=address_with(query.typed, exact=None if is_exact else "true"),
        is_exact=is_exact,
        rows_a_page=ROWS_A_PAGE,
        most_rows=MOST_ROWS,
        request_id=new_request_id(),
        parameters=query.typed,
    )


def _choices() -> Mapping[str, Choices]:
    """Return what the form lets one choose, by the names of its fields."""
    movements = {movement.value: label(movement) for movement in Movement}
    return {**choices_of(("casino_id", "jackpot_id", "currency")), "movement": movements}


def _file_address(report: Report, typed: Mapping[str, str], **more: Any) -> str:  # noqa: ANN401  parameters of the query
    query = {**typed, **more}
    stated = {name: value for name, value in query.items() if value}
    return flask.url_for("pages.send_report", name=report.name, **stated)
