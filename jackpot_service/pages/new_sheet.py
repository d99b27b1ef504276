"""A new rate sheet: typed over the sheet in force, figured by the ledger, and requested for another person."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.changes import ChangeRequestSchema
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, context, now, principal, signed
from jackpot_service.database.transactions import Session, read_at_once
from jackpot_service.domain.changes import ChangeStale
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import CHANGE_ROLES
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.problems import DEFINITE
from jackpot_service.pages.rate_moves import RateMove, rate_moves, rates_in, summary
from jackpot_service.pages.rates import require_may_ask, sheet_in_force, stated
from jackpot_service.pages.sheet_form import SheetForm, details_of, read_form
from jackpot_service.reports.rates import SheetShown
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Conditions, Plan
from jackpot_service.usecases.changes.rate_sheet import ChangeRates
from jackpot_service.usecases.changes.requests import RequestChange, request_change
from jackpot_service.usecases.payloads import field_errors_in

ASKERS: Final = tuple(sorted(CHANGE_ROLES))
"""The roles that the change policy may let ask; it says which of them do."""

STALE: Final = (
    "Another sheet has come into force since you opened this page. Rates that you did not change are now those "
    "of that sheet. Check the moves, and send the form again."
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The ledger's answer to a form: the moves, or why not; errors by the fields of the form."""

    moves: Mapping[str, RateMove] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    alert: str = ""
    sentence: str = ""
    status: int = HTTPStatus.OK


@blueprint.route("/rates/<id:base>/new", methods=["GET"])
@people(*ASKERS, of_house=True)
def show_new_sheet(base: str) -> Response:
    """Show the form, filled in from the sheet in force. Raises: NotFound."""
    require_may_ask()
    shown = sheet_in_force(base)
    return _page(shown, _form(shown, {}), Checked())


@blueprint.route("/rates/<id:base>/check", methods=["GET"])
@people(*ASKERS, of_house=True)
def show_sheet_of_check(base: str) -> Response:
    """Lead to the form: where its check stands, a browser may come back from the sign-in."""
    return flask.redirect(flask.url_for("pages.show_new_sheet", base=base), HTTPStatus.SEE_OTHER)


@blueprint.route("/rates/<id:base>/check", methods=["POST"])
@people(*ASKERS, of_house=True)
def check_sheet(base: str) -> Response:
    """Figure what a sheet would do, and do nothing: the whole page, or for htmx its part. Raises: NotFound."""
    require_may_ask()
    shown = sheet_in_force(base)
    form = _form(shown, flask.request.form)
    checked = _checked(form)
    if "HX-Request" in flask.request.headers:
        html = flask.render_template("_sheet_check.html", form=form, checked=checked, is_part=True)
        return flask.Response(html)
    return _page(shown, form, checked)


@blueprint.route("/rates/<id:base>/new", methods=["POST"])
@people(*ASKERS, of_house=True)
def request_sheet(base: str) -> Response:
    """Request the change; where that is refused, the form says why. Raises: NotFound."""
    require_may_ask()
    shown = sheet_in_force(base)
    form = _form(shown, flask.request.form)
    if form.twice:
        return _page(shown, form, _wrong(form, {}))
    stated_version = {} if form.effective_at else {"base_version": form.base_version}
    body = {"request_id": form.request_id, "kind": ChangeRates.name, "payload": form.payload, "reason": form.reason}
    try:
        command = _command(ChangeRequestSchema().load({**body, **stated_version}))
        done = act(lambda session: request_change(session, command))
    except ValidationError as error:
        return _page(shown, form, _wrong(form, details_of(tuple(field_errors_in(error.messages, "")))))
    except ChangeStale:
        newer = replace(form, base_version=str(shown.head.number))
        return _page(shown, newer, replace(_checked(newer), alert=STALE, status=HTTPStatus.CONFLICT))
    except DEFINITE as error:
        return _page(shown, form, _refused(form, error))
    return flask.redirect(flask.url_for("pages.show_change", request_id=done.change.request_id), HTTPStatus.SEE_OTHER)


def _form(shown: SheetShown, typed: Mapping[str, str]) -> SheetForm:
    head = shown.head
    return read_form(typed, head.base, stated(shown), number=head.number, request_id=new_request_id())


def _command(body: Mapping[str, Any]) -> RequestChange:
    return RequestChange(
        signed(body), body["kind"], body["payload"], body["base_version"], rate_band=context().config.rate_band
    )


def _checked(form: SheetForm) -> Checked:
    """Figure the change in a snapshot, as often as somebody types: it takes no lock, and no other act waits for it."""
    if form.twice:
        return _wrong(form, {})
    band = context().config.rate_band

    def planned(session: Session) -> Plan:
        at = Act(principal(), now())
        conditions = Conditions(acts.booking_time(session, at), form.request_id, band)
        return ChangeRates.read(form.payload).completed(conditions).plan(session, at)

    try:
        plan = read_at_once(context().engine, planned)
    except DEFINITE as error:
        return _refused(form, error)
    moves = rate_moves(rates_in(plan.before, form.base), rates_in(plan.after, form.base), band=band)
    return Checked(moves, sentence=summary(moves))


def _refused(form: SheetForm, error: LedgerError) -> Checked:
    """Say a refusal in its own words, at its fields; what stands at no field is said above the form."""
    placed = form.errors_by_field(details_of(error.field_errors), currency=str(error.facts.get("currency", "")))
    status = problem_of(error, instance=flask.request.path).status
    if placed:
        return Checked(errors=placed, status=status)
    return Checked(alert=f"Nothing was requested. {error.detail}", status=status)


def _wrong(form: SheetForm, details: Mapping[str, str]) -> Checked:
    placed = form.errors_by_field(details)
    alert = "" if placed else "; ".join(f"{pointer} {detail}" for pointer, detail in details.items())
    return Checked(errors=placed, alert=alert, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _page(shown: SheetShown, form: SheetForm, checked: Checked) -> Response:
    html = flask.render_template(
        "rates_new.html", shown=shown, form=form, checked=checked, at=now(), band=context().config.rate_band
    )
    return flask.Response(html, checked.status)
