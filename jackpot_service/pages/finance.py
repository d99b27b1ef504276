"""
The finance page: the money of a jackpot over some days, as of one instant.

Its head reads nothing that takes long. Each panel is loaded by itself, in order, and is a page of its own without
scripts. The instant stands in every address, so that a page that is mailed or printed says the same later.
"""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import flask
import orjson
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api import report_files
from jackpot_service.api.problems import problem_of
from jackpot_service.api.reading import may_be_late
from jackpot_service.api.reports import opened_question
from jackpot_service.api.request_context import now, principal
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Role
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.context import pages
from jackpot_service.pages.finance_panels import PANELS, Panel
from jackpot_service.pages.finance_query import CHOICES, FinanceQuery, TypedQuery, typed_query
from jackpot_service.pages.links import page_address
from jackpot_service.reports.finance import finance_summary

READERS: Final = (Role.FINANCE, Role.AUDITOR)
"""As those of reports; of finance nobody of a casino."""


@blueprint.route("/finance", methods=["GET"])
@people(*READERS, of_house=True)
def show_finance() -> Response:
    """Show the page, whose panels come by themselves. Raises: UnknownJackpot."""
    typed = typed_query(flask.request.args)
    html = flask.render_template("finance.html", **_head(typed), panels=tuple(PANELS.values()))
    return flask.Response(html, _status(typed))


@blueprint.route("/finance/<panel>", methods=["GET"])
@people(*READERS, of_house=True)
def show_finance_panel(panel: str) -> Response:
    """
    Show a panel: a part of the page for htmx, a page of its own for everybody else.

    Raises: NotFound; UnknownJackpot; as the panel's reports, if it is a page.
    """
    shown, is_part = PANELS.get(panel), "HX-Request" in flask.request.headers
    if shown is None:
        raise NotFound
    try:
        typed = typed_query(flask.request.args)
    except LedgerError as error:
        if not is_part or may_be_late(error):
            raise
        return _problem_in_place(shown, error)
    if typed.query is None:
        if is_part:
            raise NotFound
        return flask.Response(flask.render_template("finance.html", **_head(typed), panels=()), _status(typed))
    if is_part:
        return _part(shown, typed.query)
    values = {**_values(shown, typed.query), **shown.rows(typed.query)}
    html = flask.render_template("finance_panel.html", **_head(typed), panel=shown, is_alone=True, **values)
    return flask.Response(html)


@blueprint.route("/finance/workbook", methods=["GET"])
@people(*READERS, of_house=True)
def show_finance_workbook() -> Response:
    """Send the same question as a file. Raises: NotFound; UnknownJackpot; as the report."""
    query = typed_query(flask.request.args).query
    if query is None:
        raise NotFound
    with opened_question(finance_summary.REPORT, query.question()) as opened:
        return report_files.workbook(opened.in_time)


def _values(panel: Panel, query: FinanceQuery) -> Mapping[str, Any]:
    """
    Read a panel, once for all of a role who want it as of the same instant.

    Raises: as the panel's reports; Busy.
    """
    if not panel.says_the_same:
        return panel.read(query)
    return pages().panels.values((panel.name, query, principal().role), partial(panel.read, query))


def _part(panel: Panel, query: FinanceQuery) -> Response:
    """Answer a panel as a part of the page; a problem stands in its place."""
    try:
        values = _values(panel, query)
    except LedgerError as error:
        if may_be_late(error):  # Then the call is made again, at the primary.
            raise
        return _problem_in_place(panel, error)
    return flask.Response(flask.render_template(panel.template, query=query, is_alone=False, **values))


def _problem_in_place(panel: Panel, error: LedgerError) -> Response:
    """Answer a problem as a part of the page, with a way to try again; by the header a script knows it for one."""
    problem = problem_of(error, instance=flask.request.path)
    html = flask.render_template(
        "_finance_problem.html", address=flask.request.full_path, problem=orjson.loads(problem.body)
    )
    response = flask.Response(html, problem.status)
    response.headers.update(dict(problem.headers))
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Jackpot-Part"] = panel.name
    return response


def _head(typed: TypedQuery) -> dict[str, Any]:
    """The values of the head, which reads nothing that takes long."""
    return {
        "typed": typed.read,
        "jackpot_ids": typed.jackpot_ids,
        "query": typed.query,
        "choices": CHOICES,
        "made_at": now(),
        "close_link": None if typed.query is None else page_address("pages.show_closed_periods"),
    }


def _status(typed: TypedQuery) -> HTTPStatus:
    return HTTPStatus.UNPROCESSABLE_ENTITY if typed.read.errors else HTTPStatus.OK
