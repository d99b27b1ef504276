"""Asking for a change: the kinds that somebody may ask for, and the form of each."""

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

import flask
from marshmallow import ValidationError
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.changes import ChangeRequestSchema
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act_or_rehearse, context, look, now, principal, signed
from jackpot_service.database.transactions import read_at_once
from jackpot_service.domain.changes import ChangeStale
from jackpot_service.domain.errors import Refused
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.change_form_page import REASON, effect_shown, form_page
from jackpot_service.pages.change_forms.fields import Reading, Typed
from jackpot_service.pages.change_forms.form import BASE_VERSION, Asker, ChangeForm, Sheet
from jackpot_service.pages.change_forms.registry import forms_for
from jackpot_service.pages.change_forms.subjects import UnknownSubject
from jackpot_service.pages.form_errors import NEEDED, errors_in
from jackpot_service.pages.forms import is_request_id, new_request_id
from jackpot_service.pages.inbox import DECIDERS, asks_for_rates
from jackpot_service.pages.lists import address_with
from jackpot_service.pages.problems import DEFINITE
from jackpot_service.records import change_policies
from jackpot_service.records import changes as records
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.requests import ChangeRequested, RequestChange, request_change

FORM: Final = "form"
"""The field of the address with the id under which the form asks; "back" leads to the same form, not to another."""

STALE: Final = (
    "What this form is about has changed since you opened it. Fields that you did not change show what there "
    "is now. Check them, and send the form again."
)

TRY: Final = "try"
"""As `step`: the form is only tried."""


@blueprint.route("/changes/new", methods=["GET"])
@people(*DECIDERS, of_house=True)
def show_new_changes() -> str:
    """List the kinds of change that somebody may ask for, in words. A rate sheet is a table, with a page of its own."""
    groups: dict[str, list[ChangeForm]] = {}
    for form in _forms():
        groups.setdefault(form.group, []).append(form)
    rates = flask.url_for("pages.show_bases") if asks_for_rates(principal(), look(change_policies.in_force)) else ""
    return flask.render_template("change_kinds.html", groups=groups, rates=rates)


@blueprint.route("/changes/new/<id:kind>", methods=["GET"])
@people(*DECIDERS, of_house=True)
def show_new_change(kind: str) -> Response:
    """Show the form of a kind of change; where the address does not say what it is about, that is chosen first."""
    form = _form(kind)
    subject = _subject(form)
    if len(subject) < len(form.subject):
        return _choice(form)
    try:
        sheet = _sheet(form, subject)
    except (UnknownSubject, *DEFINITE) as error:
        return _choice(form, alert=str(error), status=HTTPStatus.NOT_FOUND)
    request_id = flask.request.args.get(FORM, "")
    before = look(lambda session: records.find(session, request_id)) if is_request_id(request_id) else None
    if not is_request_id(request_id) or (before is not None and before.maker != principal().name):
        return flask.redirect(_address(new_request_id()), HTTPStatus.SEE_OTHER)
    if before is not None:
        html = flask.render_template("change_sent.html", form=form, change=before, again=_address())
        return flask.Response(html)
    return form_page(form, sheet, sheet.begun(flask.request.args), request_id=request_id)


@blueprint.route("/changes/new/<id:kind>", methods=["POST"])
@people(*DECIDERS, of_house=True)
def ask_for_change(kind: str) -> Response:
    """Ask for a change, or try what it would do; where that is refused, the form says why and keeps its text."""
    form = _form(kind)
    try:
        sheet = _sheet(form, _subject(form))
    except (UnknownSubject, KeyError, *DEFINITE) as error:
        raise NotFound from error
    typed: Typed = flask.request.form
    reading = sheet.read(sheet.fields, typed)
    payload = {**reading.payload, **sheet.payload}
    body: dict[str, Any] = {
        "request_id": typed.get("request_id", ""),
        "reason": typed.get("reason", "").strip(),
        "kind": form.kind,
        "payload": payload,
        **({} if sheet.version is None else {BASE_VERSION: typed.get(BASE_VERSION, "")}),
    }
    errors = {**_errors_of_body(body), **_errors_of_payload(kind, payload, reading), **reading.errors}
    if errors:
        return form_page(form, sheet, typed, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    is_trial = typed.get("step") == TRY
    command = RequestChange(
        signed(body), form.kind, payload, body.get(BASE_VERSION), rate_band=context().config.rate_band
    )
    try:
        done: ChangeRequested = act_or_rehearse(lambda session: request_change(session, command), dry_run=is_trial)
    except ChangeStale:
        return form_page(form, sheet, sheet.begun_again(typed), alert=STALE, status=HTTPStatus.CONFLICT)
    except DEFINITE as error:
        placed = {reading.place_of(each.pointer): each.detail for each in error.field_errors}
        status = problem_of(error, instance=flask.request.path).status
        return form_page(form, sheet, typed, errors=placed, alert=error.detail, status=status)
    if is_trial and done.effect is not None:
        left = KINDS[kind].read(payload).left_to_booking
        return form_page(form, sheet, typed, effect=effect_shown(done.effect, left_to_booking=left))
    return flask.redirect(flask.url_for("pages.show_change", request_id=done.change.request_id), HTTPStatus.SEE_OTHER)


def _forms() -> Collection[ChangeForm]:
    return forms_for(principal(), look(change_policies.in_force))


def _form(kind: str) -> ChangeForm:
    """Raises: NotFound for a kind that has no form, or that is not for the person."""
    form = next((form for form in _forms() if form.kind == kind), None)
    if form is None:
        raise NotFound
    return form


def _subject(form: ChangeForm) -> dict[str, str]:
    """The part of the address that says what the form is about; the names of a payload's members do so too."""
    args = flask.request.args
    stated = {name: (args.get(name) or args.get(f"{name}_id") or "").strip() for name in form.subject}
    return {name: value for name, value in stated.items() if value}


def _sheet(form: ChangeForm, subject: Mapping[str, str]) -> Sheet:
    """Figure the sheet of one instant, with its version. Raises: KeyError for a subject that lacks something; Busy."""
    asker = Asker(principal(), now())
    return read_at_once(context().engine, lambda session: form.sheet(session, asker, subject))


def _address(request_id: str | None = None) -> str:
    """The address of the form in hand, with another id, or without."""
    stated = {name: value for name, value in flask.request.args.items() if name != FORM}
    return address_with(stated, **{FORM: request_id})


def _choice(form: ChangeForm, *, alert: str = "", status: int = HTTPStatus.OK) -> Response:
    asker = Asker(principal(), now())
    fields = look(lambda session: form.subject_fields(session, asker))
    candidates = look(lambda session: form.candidates(session, asker))
    start = flask.url_for("pages.show_new_change", kind=form.kind)
    html = flask.render_template(
        "change_subject.html",
        form=form,
        fields=fields,
        typed=flask.request.args,
        errors={},
        focus=fields[0].name if fields and not alert else "",
        alert=alert,
        candidates=[(candidate.label, f"{start}?{urlencode(candidate.query)}") for candidate in candidates],
    )
    return flask.Response(html, status)


def _errors_of_body(body: Mapping[str, Any]) -> dict[str, str]:
    try:
        ChangeRequestSchema().load(body)
    except ValidationError as error:
        errors = errors_in(error)
        return errors if body["reason"] else {**errors, REASON: NEEDED}
    return {}


def _errors_of_payload(kind: str, payload: Mapping[str, Any], reading: Reading) -> dict[str, str]:
    try:
        KINDS[kind].read(payload)
    except Refused as error:
        placed = {reading.place_of(each.pointer): each.detail for each in error.field_errors}
        return placed or {"": error.detail}
    return {}
