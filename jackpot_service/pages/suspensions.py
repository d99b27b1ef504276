"""Suspending a jackpot, and resuming it: a form with a reason on the jackpot's page, for operators."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.jackpots import SuspensionRequestSchema
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, now, principal, signed
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Conflict, Forbidden
from jackpot_service.domain.lives import Life
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.forms import new_request_id
from jackpot_service.reports.jackpots import JackpotState, jackpot_state
from jackpot_service.usecases.jackpots import ChangeSuspension, SuspensionChanged, resume_jackpot, suspend_jackpot

ENDPOINTS: Final[Mapping[Life, str]] = {
    Life.OPEN: "pages.show_suspension",
    Life.SUSPENDED: "pages.show_resumption",
}
"""The form that a jackpot's page has, by where the jackpot stands; a retired one has none."""


def suspension_form(state: JackpotState, person: Principal) -> Mapping[str, Any]:
    """The values of the form on a jackpot's page; `suspension_endpoint` is None for somebody who may not."""
    may = person.role is Role.OPERATOR and person.casino_id is None
    return {"suspension_endpoint": ENDPOINTS.get(state.life) if may else None, "request_id": new_request_id()}


@blueprint.route("/jackpots/<id:jackpot_id>/suspension", methods=["GET"])
@people(Role.OPERATOR, of_house=True)
def show_suspension(jackpot_id: str) -> Response:
    """Show the form that suspends a jackpot, alone. Raises: UnknownJackpot."""
    return _page(jackpot_id, "pages.show_suspension", {})


@blueprint.route("/jackpots/<id:jackpot_id>/suspension", methods=["POST"])
@people(Role.OPERATOR, of_house=True, needs_proof=True)
def suspend(jackpot_id: str) -> Response:
    """Refuse a jackpot's bets from now on. Raises: UnknownJackpot."""
    return _changed(jackpot_id, "pages.show_suspension", suspend_jackpot)


@blueprint.route("/jackpots/<id:jackpot_id>/resumption", methods=["GET"])
@people(Role.OPERATOR, of_house=True)
def show_resumption(jackpot_id: str) -> Response:
    """Show the form that resumes a jackpot, alone. Raises: UnknownJackpot."""
    return _page(jackpot_id, "pages.show_resumption", {})


@blueprint.route("/jackpots/<id:jackpot_id>/resumption", methods=["POST"])
@people(Role.OPERATOR, of_house=True, needs_proof=True)
def resume(jackpot_id: str) -> Response:
    """Take a jackpot's bets again. Raises: UnknownJackpot."""
    return _changed(jackpot_id, "pages.show_resumption", resume_jackpot)


def _changed(
    jackpot_id: str, endpoint: str, use_case: Callable[[Session, ChangeSuspension], SuspensionChanged]
) -> Response:
    form = flask.request.form
    try:
        body = SuspensionRequestSchema().load(
            {"request_id": form.get("request_id", ""), "reason": form.get("reason", "").strip()}
        )
        command = ChangeSuspension(signed(body), jackpot_id)
        act(lambda session: use_case(session, command))
    except ValidationError as error:
        errors = errors_in(error)
        return _page(jackpot_id, endpoint, form, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Conflict, Forbidden) as error:
        status = problem_of(error, instance=flask.request.path).status
        return _page(jackpot_id, endpoint, form, alert=f"Nothing was done. {error.detail}", status=status)
    return flask.redirect(flask.url_for("pages.show_jackpot", jackpot_id=jackpot_id), HTTPStatus.SEE_OTHER)


def _page(
    jackpot_id: str,
    endpoint: str,
    typed: Mapping[str, str],
    *,
    errors: Mapping[str, str] | None = None,
    alert: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    state = look(lambda session: jackpot_state(session, jackpot_id, at=now()))
    html = flask.render_template(
        "jackpot_suspension.html",
        state=state,
        base=state.rules.base,
        sees_history=principal().role is Role.AUDITOR,
        suspension_endpoint=endpoint,
        request_id=typed.get("request_id") or new_request_id(),
        typed=typed,
        errors=errors or {},
        alert=alert,
    )
    return flask.Response(html, status)
