"""Passkeys on the page of a person: they add one, and revoke one."""

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
from jackpot_service.api.request_context import act, context, look, principal, signed
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.pages.access import PEOPLE, people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.passkey_forms import NO_ANSWER
from jackpot_service.records import passkeys as records
from jackpot_service.records.passkeys import ListedPasskey
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


def own_passkeys() -> list[ListedPasskey]:
    """Return the passkeys of who sees the page, the latest first."""
    return list(look(lambda session: records.all_of(session, principal().name)))


@blueprint.route("/account/passkeys", methods=["POST"])
@people(*PEOPLE, needs_proof=True)
def add_passkey() -> Response:
    """Show the form by which a passkey is made, or register the one that was made."""
    if not flask.request.form.get("credential"):
        return _form()
    try:
        command = _command()
        act(lambda session: register_passkey(session, command))
    except (orjson.JSONDecodeError, ValidationError):
        return _form(NO_ANSWER, HTTPStatus.UNPROCESSABLE_ENTITY)
    except (Refused, Conflict) as error:
        return _form(error.detail, HTTPStatus.UNPROCESSABLE_ENTITY)
    return _to_account()


def _command() -> RegisterPasskey:
    """Read the form as the API reads a body. Raises: ValidationError; JSONDecodeError."""
    form = flask.request.form
    body = NewPasskeySchema().load(
        {
            "request_id": form.get("request_id", ""),
            "name": form.get("name", "").strip(),
            "reason": REGISTERED,
            "credential": orjson.loads(form.get("credential", "")),
        }
    )
    return RegisterPasskey(signed(body), body["name"], credential_of(body["credential"]), site())


def _form(alert: str = "", status: HTTPStatus = HTTPStatus.OK) -> Response:
    asking = Act(principal(), context().clock())
    options = act(lambda session: begin_registration(session, asking, site()))
    name = flask.request.form.get("name", "")
    html = flask.render_template("passkey.html", options=options, request_id=new_request_id(), alert=alert, name=name)
    return flask.Response(html, status)


@blueprint.route("/account/passkeys/<id:passkey_id>/revocation", methods=["POST"])
@people(*PEOPLE, needs_proof=True)
def revoke_own_passkey(passkey_id: str) -> Response:
    """Revoke a passkey of who sees the page, or as an operator anybody's. Raises: UnknownPasskey; PasskeyRevoked."""
    form = flask.request.form
    body = PasskeyRevocationSchema().load(
        {"request_id": form.get("request_id", ""), "reason": form.get("reason", "").strip() or REVOKED}
    )
    act(lambda session: revoke_passkey(session, signed(body), passkey_id))
    return _to_account()


def _to_account() -> Response:
    return flask.redirect(flask.url_for("pages.show_account"), HTTPStatus.SEE_OTHER)
