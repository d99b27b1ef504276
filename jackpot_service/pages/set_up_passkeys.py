"""Set-up of people's passkeys: an operator revokes one that was lost, the last one of a person too."""

from http import HTTPStatus
from typing import Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.passkeys import PasskeyRevocationSchema
from jackpot_service.api.request_context import act, look, signed
from jackpot_service.database.transactions import Session
from jackpot_service.domain.passkeys import UnknownPasskey
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.set_up_forms import ACTORS, Form, read_form, sent, shown
from jackpot_service.pages.set_up_key_forms import passkey_revocation_form
from jackpot_service.usecases.keys import find
from jackpot_service.usecases.passkeys import require_passkey, revoke_passkey

_ADDRESS: Final = "/set-up/keys/<id:key_id>/passkeys/<id:passkey_id>/revocation"


@blueprint.route(_ADDRESS, methods=["GET"])
@people(*ACTORS)
def show_passkey_revocation(key_id: str, passkey_id: str) -> Response:
    """Show the form by which a passkey of a key's owner is revoked. Raises: UnknownKey; UnknownPasskey."""
    return shown(look(lambda session: _form(session, key_id, passkey_id)))


@blueprint.route(_ADDRESS, methods=["POST"])
@people(*ACTORS, needs_proof=True)
def revoke_passkey_of_owner(key_id: str, passkey_id: str) -> Response:
    """Revoke a passkey for good; where that is refused, its form says why. Raises: UnknownKey; UnknownPasskey."""
    form = look(lambda session: _form(session, key_id, passkey_id))

    def do() -> Response:
        body = PasskeyRevocationSchema().load(read_form(form.fields))
        act(lambda session: revoke_passkey(session, signed(body), passkey_id))
        return flask.redirect(flask.url_for("pages.show_key", key_id=key_id), HTTPStatus.SEE_OTHER)

    return sent(form, do)


def _form(session: Session, key_id: str, passkey_id: str) -> Form:
    key, listed = find(session, key_id), require_passkey(session, passkey_id)
    if listed.passkey.principal != key.principal.name:
        message = f"The owner of key {key_id} has no passkey {passkey_id}."
        raise UnknownPasskey(message, passkey_id=passkey_id)
    return passkey_revocation_form(key, listed.passkey)
