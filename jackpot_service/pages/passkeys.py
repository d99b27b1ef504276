"""Passkeys on the page of a person: they add one, and revoke one."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import flask
import orjson
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.passkeys import (
    NewPasskeySchema,
    PasskeyRevocationSchema,
    credential_of,
    site,
)
from jackpot_service.api.request_context import act, now, principal, signed
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.passkeys import PasskeyNotShown
from jackpot_service.pages.access import PEOPLE, people, person
from jackpot_service.pages.account import account_page
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.passkey_forms import NO_ANSWER
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.passkeys import (
    RegisterPasskey,
    begin_registration,
    register_passkey,
    revoke_passkey,
)

REGISTERED: Final = "Registered by its person."
REVOKED: Final = "Revoked by its person."
"""Reasons of acts of a person about themselves, where they state none."""

OTHER_FORM: Final = "This form is not as it was shown. Nothing was revoked: try again here."


@blueprint.route("/account/passkeys", methods=["POST"])
@people(*PEOPLE, needs_proof=True)
def add_passkey() -> Response:
    """
    Show the form by which a passkey of a name is made, or register the one that was made.

    People with a passkey show it first. The name is read before anything is made: else a device would keep a passkey
    that nobody knows.
    """
    form = flask.request.form
    name = form.get("name", "").strip()
    try:
        NewPasskeySchema(only=("name",)).load({"name": name})
    except ValidationError as error:
        return _account(name=name, name_error=_errors(error)["/name"])
    try:
        if not form.get("credential"):
            return _form(name)
        command = _command(name)
        act(lambda session: register_passkey(session, command))
    except PasskeyNotShown:
        account = flask.url_for("pages.show_account")
        return flask.redirect(flask.url_for("pages.show_proof", next=account, by="passkey"), HTTPStatus.SEE_OTHER)
    except (orjson.JSONDecodeError, ValidationError):
        return _form(name, NO_ANSWER, HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Refused, Conflict) as error:
        return _form(name, error.detail, HTTPStatus.UNPROCESSABLE_ENTITY)
    return _to_account()


def _command(name: str) -> RegisterPasskey:
    """Read the form as the API reads a body. Raises: ValidationError; JSONDecodeError."""
    form = flask.request.form
    body = NewPasskeySchema().load(
        {
            "request_id": form.get("request_id", ""),
            "name": name,
            "reason": REGISTERED,
            "credential": orjson.loads(form.get("credential", "")),
        }
    )
    credential = credential_of(body["credential"])
    return RegisterPasskey(signed(body), body["name"], credential, site(), by_passkey=_has_shown_passkey())


def _has_shown_passkey() -> bool:
    return person().has_proved_by_passkey(at=now())


def _form(name: str, alert: str = "", status: HTTPStatus = HTTPStatus.OK) -> Response:
    asking = Act(principal(), now())
    options = act(lambda session: begin_registration(session, asking, site(), by_passkey=_has_shown_passkey()))
    html = flask.render_template("passkey.html", options=options, request_id=new_request_id(), alert=alert, name=name)
    return flask.Response(html, status)


@blueprint.route("/account/passkeys/<id:passkey_id>/revocation", methods=["POST"])
@people(*PEOPLE, needs_proof=True)
def revoke_own_passkey(passkey_id: str) -> Response:
    """
    Revoke a passkey of who sees the page, or as an operator anybody's.

    Raises: UnknownPasskey; PasskeyRevoked; LastPasskey.
    """
    form = flask.request.form
    stated = {"request_id": form.get("request_id", ""), "reason": form.get("reason", "").strip() or REVOKED}
    try:
        body = PasskeyRevocationSchema().load(stated)
    except ValidationError as error:
        detail = _errors(error).get("/reason")
        return _account(alert=OTHER_FORM if detail is None else f"The reason {detail}. Nothing was revoked.")
    act(lambda session: revoke_passkey(session, signed(body), passkey_id))
    return _to_account()


def _errors(error: ValidationError) -> Mapping[str, str]:
    """Say what is wrong with each field."""
    return errors_in(error)


def _account(**wrong: str) -> Response:
    return flask.Response(account_page(**wrong), HTTPStatus.UNPROCESSABLE_ENTITY)


def _to_account() -> Response:
    return flask.redirect(flask.url_for("pages.show_account"), HTTPStatus.SEE_OTHER)
