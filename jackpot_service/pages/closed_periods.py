"""Closed periods: what finance has reported for good, the form that closes the next, and a comparison with now."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.lists import ListQuerySchema, cursor, page
from jackpot_service.api.periods import ClosingSchema, ComparedReport, Comparison, close_by, compared_with
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import look, now, principal
from jackpot_service.domain.closed_periods import ClosedPeriod, KeptReport, PeriodBeforeBooks, PeriodConflict
from jackpot_service.domain.errors import Conflict, Forbidden, LedgerError, Refused
from jackpot_service.domain.principals import Role
from jackpot_service.pages import chips
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.lists import address_with, read_place
from jackpot_service.pages.reports import READERS
from jackpot_service.pages.set_up_forms import USED
from jackpot_service.records import checkpoints
from jackpot_service.reports.checkpoints import period_of_act
from jackpot_service.reports.documents import as_text
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.reports.making import InstantAhead, ReportTookTooLong

CHIPS: Final = {Comparison.SAME: chips.GOOD, Comparison.DIFFERS: chips.WRONG, Comparison.NOT_COMPARED: chips.QUIET}

_REFUSALS: Final = (Refused, Conflict, Forbidden, ReportTookTooLong)


@blueprint.route("/closed-periods", methods=["GET"])
@people(*READERS, of_house=True)
def show_closed_periods() -> str:
    """List the periods that are closed, the latest first; finance closes the next one here."""
    return _page()


@blueprint.route("/closed-periods", methods=["POST"])
@people(Role.FINANCE, of_house=True, needs_proof=True)
def close_next_period() -> Response:
    """Close everything up to an instant that is over; the same form again is a replay."""
    form = flask.request.form
    stated = {name: form.get(name, "").strip() for name in ("request_id", "to", "reason")}
    try:
        done = close_by(ClosingSchema().load(stated))
    except ValidationError as error:
        errors = {name.lstrip("/"): detail for name, detail in errors_in(error).items()}
        return flask.Response(_page(form=form, errors=errors), HTTPStatus.UNPROCESSABLE_ENTITY)
    except _REFUSALS as error:
        return flask.Response(_refused(form, error), problem_of(error, instance=flask.request.path).status)
    address = flask.url_for("pages.show_closed_period", act=done.period.entry_seq)
    return flask.redirect(address, HTTPStatus.SEE_OTHER)


@blueprint.route("/closed-periods/<number:act>", methods=["GET"])
@people(*READERS, of_house=True)
def show_closed_period(act: int) -> str:
    """
    Show a closed period with the hashes of its reports; with `again`, each is figured again and compared.

    Raises: UnknownPeriod; ReportTookTooLong.
    """
    closed = look(lambda session: period_of_act(session, principal(), act))
    is_again = flask.request.args.get("again") == "true"
    figured = {each.name: each for each in compared_with(closed)} if is_again else {}
    return flask.render_template(
        "closed_period.html",
        closed=closed,
        period=_edges(closed),
        reports=[_stored(name, report, figured) for name, report in sorted(closed.reports.items())],
        is_again=is_again,
        differing=sum(each.outcome is Comparison.DIFFERS for each in figured.values()),
        outcomes=CHIPS,
        at=now(),
    )


def _stored(name: str, stored: KeptReport, figured: Mapping[str, ComparedReport]) -> Mapping[str, Any]:
    report = REPORTS.get(name)
    title = name if report is None else report.title
    return {"name": name, "title": title, "stored": stored, "again": figured.get(name)}


def _edges(closed: ClosedPeriod) -> Mapping[str, str]:
    """Return the period in the words of a report's query."""
    edges = {"from": as_text(closed.period.start), "to": as_text(closed.period.end)}
    return {name: edge for name, edge in edges.items() if edge}


def _refused(form: Mapping[str, str], error: LedgerError) -> str:
    """Show the form again: a refusal is about the end of the period, or about all of it."""
    if isinstance(error, (InstantAhead, PeriodBeforeBooks, PeriodConflict)):
        return _page(form=form, errors={"to": error.detail})
    if error.code == "request-conflict":
        return _page(form={**form, "request_id": new_request_id()}, alert=USED)
    return _page(form=form, alert=error.detail)


def _page(*, form: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None, alert: str = "") -> str:
    query = read_place(ListQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: checkpoints.latest_periods(session, limit=limit, before=query.values["after"]),
        lambda period: cursor(period.entry_seq),
    )
    last = look(checkpoints.last_period)
    typed = form or {}
    return flask.render_template(
        "closed_periods.html",
        periods=listed["items"],
        last=last,
        may_close=principal().role is Role.FINANCE,
        typed=typed,
        errors=errors or {},
        alert=alert,
        request_id=typed.get("request_id") or new_request_id(),
        next_page=address_with({}, after=listed["next"]) if listed["next"] else None,
        first_page=address_with({}) if "after" in query.typed else None,
    )
