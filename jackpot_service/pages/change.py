"""One change request: what it would do or did, who decides it, and the forms by which somebody does."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
import structlog
from marshmallow import ValidationError
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.changes import ApprovalSchema, ChangeView, RejectionSchema, begin_approval_of, shown_change
from jackpot_service.api.passkeys import site
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, now, principal, signed
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import (
    Change,
    ChangeDecided,
    ChangeExpired,
    ConfirmationRequired,
    Outcome,
    UnknownChange,
)
from jackpot_service.domain.errors import LedgerError, Unavailable
from jackpot_service.domain.passkeys import PasskeyRequired
from jackpot_service.pages import figures, shown_changes
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.decision_rights import DecisionRights, rights_of
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.inbox import CHIPS, DECIDERS, READERS, kinds_seen
from jackpot_service.pages.passkey_forms import assertion_in
from jackpot_service.pages.problems import DEFINITE
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.records import change_policies, references
from jackpot_service.usecases.changes.registry import KINDS
from jackpot_service.usecases.changes.requests import ChangeDecidedNow, DecideChange, decide_change
from jackpot_service.usecases.changes.signed_approvals import Shown, needs_passkey

log = structlog.get_logger()

NO_REMARK: Final = "Approved without a remark."
"""The reason of an approval that states none: the audit trail has a reason for each."""

CONFIRM: Final = "confirm:"
"""Before the names of the fields in which figures are repeated."""

MOVED: Final = (
    "The books have changed since you looked. Nothing was done. Check the effect as it is now, and decide again."
)

NO_OUTCOME: Final = "The form says neither that you approve nor that you reject. Nothing was done."


class EffectMoved(Exception):
    """The approval would do something else than its form has shown; it was taken back."""


@blueprint.route("/changes/<id:request_id>", methods=["GET"])
@people(*READERS, of_house=True)
def show_change(request_id: str) -> Response:
    """Show a change request as it stands. Raises: UnknownChange."""
    return _page(request_id, {})


@blueprint.route("/changes/<id:request_id>", methods=["POST"])
@people(*DECIDERS, of_house=True, needs_proof=True)
def decide(request_id: str) -> Response:
    """Approve or reject a change request; where that is refused, its page says why. Raises: UnknownChange."""
    return _decided(request_id, is_emergency=False)


@blueprint.route("/changes/<id:request_id>/emergency", methods=["GET"])
@people(*DECIDERS, of_house=True)
def show_emergency(request_id: str) -> Response:
    """Show the maker the page on which they approve alone. Raises: NotFound unless that is switched on."""
    return _page(request_id, {}, is_emergency=True)


@blueprint.route("/changes/<id:request_id>/emergency", methods=["POST"])
@people(*DECIDERS, of_house=True, needs_proof=True)
def decide_alone(request_id: str) -> Response:
    """Approve an own request alone. Raises: UnknownChange."""
    return _decided(request_id, is_emergency=True)


def _decided(request_id: str, *, is_emergency: bool) -> Response:
    form = flask.request.form
    view = _seen(request_id)
    stated = Outcome.APPROVED.value if is_emergency else form.get("outcome", "")
    if stated not in set(Outcome):
        return _page(request_id, form, alert=NO_OUTCOME, status=422)
    try:
        command = _command(view.change, Outcome(stated), is_emergency=is_emergency)
        done = act(lambda session: _decide_as_shown(session, command, form))
    except ValidationError as error:
        errors = errors_in(error)
        return _page(request_id, form, errors=errors, status=422, is_emergency=is_emergency)
    except EffectMoved:
        return _page(request_id, form, alert=MOVED, has_moved=True, status=409, is_emergency=is_emergency)
    except DEFINITE as error:
        return _refused(request_id, error, is_emergency=is_emergency)
    if is_emergency and not done.is_replay:
        log.critical("emergency approval by one person", request_id=request_id, principal=principal().name)
    return flask.redirect(flask.url_for("pages.show_change", request_id=request_id), HTTPStatus.SEE_OTHER)


def _command(change: Change, outcome: Outcome, *, is_emergency: bool) -> DecideChange:
    """Read the form as the API reads a body. Raises: ValidationError."""
    form = flask.request.form
    reason = form.get("reason", "").strip()
    if outcome is Outcome.REJECTED:
        return DecideChange(signed(RejectionSchema().load({"reason": reason})), change.request_id, outcome)
    typed = {name: form.get(f"{CONFIRM}{name}", "").strip() for name in change.to_confirm}
    confirm = {name: figure for name, figure in typed.items() if figure}
    body = ApprovalSchema().load({"reason": reason or NO_REMARK, "confirm": confirm, "emergency": is_emergency})
    return DecideChange(
        signed(body),
        change.request_id,
        outcome,
        confirm=body["confirm"],
        is_emergency=body["emergency"],
        shown=Shown(assertion_in(form), site()),
    )


def _decide_as_shown(session: Session, command: DecideChange, form: Mapping[str, str]) -> ChangeDecidedNow:
    """
    Decide, and look under the locks of the approval whether it does what its form has shown.

    Of what a passkey has signed the use case holds that itself. Raises: EffectMoved, which takes it back, unless the
    form says that it may come to something else.
    """
    done = decide_change(session, command)
    if command.shown.assertion is not None:
        return done
    if done.effect is not None and not form.get("as_it_comes"):
        left = KINDS[done.change.kind].read(done.change.payload).left_to_booking
        if shown_changes.digest(done.effect, left_to_booking=left) != form.get("effect"):
            raise EffectMoved
    return done


def _refused(request_id: str, error: LedgerError, *, is_emergency: bool) -> Response:
    if isinstance(error, UnknownChange):
        raise error
    errors = {each.pointer: each.detail for each in error.field_errors}
    sentence = f"Your decision was not carried out. {_sentence_of(request_id, error)}"
    alert = "" if isinstance(error, ConfirmationRequired) else sentence
    return _page(
        request_id,
        flask.request.form,
        errors=errors,
        alert=alert,
        status=problem_of(error, instance=flask.request.path).status,
        is_emergency=is_emergency,
    )


def _sentence_of(request_id: str, error: LedgerError) -> str:
    """Say a refusal; who was second reads who decided."""
    change = _seen(request_id).change
    if isinstance(error, ChangeExpired):
        return f"The request expired on {figures.moment(change.expires_at)}."
    if not isinstance(error, ChangeDecided) or change.decision is None:
        return error.detail
    decision = change.decision
    return f"{decision.checker} has {decision.outcome} it meanwhile, on {figures.moment(decision.decided_at)}."


def _seen(request_id: str) -> ChangeView:
    """Raises: UnknownChange, also for a kind that the person does not see."""
    view = shown_change(request_id)
    policy = look(change_policies.in_force)
    if view.change.kind not in kinds_seen(principal(), policy):
        message = f"There is no change request {request_id}."
        raise UnknownChange(message, request_id=request_id)
    return view


def _page(
    request_id: str,
    typed: Mapping[str, str],
    *,
    errors: Mapping[str, str] | None = None,
    alert: str = "",
    has_moved: bool = False,
    status: int = HTTPStatus.OK,
    is_emergency: bool = False,
) -> Response:
    view = _seen(request_id)
    rights = look(lambda session: rights_of(session, view.change, principal(), at=now()))
    if is_emergency and not (rights.may_alone or status != HTTPStatus.OK):
        raise NotFound
    html = flask.render_template(
        "change_emergency.html" if is_emergency and rights.may_alone else "change.html",
        **_values(view, rights),
        **_signing(view, rights, is_emergency=is_emergency and rights.may_alone),
        typed=typed,
        errors=errors or {},
        alert=alert,
        has_moved=has_moved,
        figures_due=[_figure_due(name, errors or {}) for name in sorted(view.change.to_confirm)],
    )
    return flask.Response(html, status)


def _values(view: ChangeView, rights: DecisionRights) -> Mapping[str, Any]:
    change, effect = view.change, view.effect
    state = change.state(at=view.at)
    left = KINDS[change.kind].read(change.payload).left_to_booking
    is_possible = effect is not None and effect.problem is None
    return {
        "change": change,
        "effect": effect,
        "at": view.at,
        "state": state.value,
        "chip_of_state": CHIPS[state],
        "is_waiting": view.is_waiting,
        "rights": rights,
        "is_possible": is_possible,
        "sees_rounds": principal().role in WATCHERS,
        "differences": () if effect is None else shown_changes.differences(effect, left_to_booking=left),
        "recorded": () if effect is None else shown_changes.recorded(effect),
        "requested": shown_changes.requested(change.payload, _base_of(change)),
        "digest": shown_changes.digest(effect, left_to_booking=left) if effect is not None and is_possible else "",
    }


def _base_of(change: Change) -> str | None:
    """Return the base currency of the jackpot that a change is about; None if it is about none."""
    jackpot_id = change.jackpot_id
    return None if jackpot_id is None else look(lambda session: references.jackpot_base(session, jackpot_id))


def _signing(view: ChangeView, rights: DecisionRights, *, is_emergency: bool) -> Mapping[str, Any]:
    """
    Say whether an approval of this page is to be signed by a passkey, and what the browser is asked for then.

    A replica asks for nothing, nor does a primary that is too busy: nobody approves there now.
    """
    may_approve = view.is_waiting and (is_emergency or not rights.not_approve)
    is_possible = view.effect is not None and view.effect.problem is None
    if not (may_approve and is_possible and look(lambda session: needs_passkey(session, view.change, principal()))):
        return {"is_signed": False, "signing_options": None}
    try:
        options = begin_approval_of(view, is_emergency=is_emergency).public_key
    except PasskeyRequired:
        return {"is_signed": True, "signing_options": None, "has_no_passkey": True}
    except Unavailable:
        return {"is_signed": True, "signing_options": None}
    return {"is_signed": True, "signing_options": options}


def _figure_due(name: str, errors: Mapping[str, str]) -> Mapping[str, str]:
    """The field of a figure that is to be repeated, and what is wrong with what was typed into it."""
    pointer = f"/confirm/{name.replace('~', '~0').replace('/', '~1')}"
    return {"name": name, "field": f"{CONFIRM}{name}", "error": errors.get(pointer, "")}
