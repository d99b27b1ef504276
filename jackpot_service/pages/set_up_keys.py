"""Set-up of people and keys: who there is, new keys, which are shown once, and how somebody is kept out."""

from http import HTTPStatus

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.keys import NewKeySchema, RevocationSchema, SignOutSchema
from jackpot_service.api.lists import ListQuerySchema, cursor, page
from jackpot_service.api.request_context import act, context, look, principal, signed
from jackpot_service.api.users import NewUserSchema
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.lists import read_place
from jackpot_service.pages.set_up_forms import ACTORS, READERS, read_form, sent, shown
from jackpot_service.pages.set_up_key_forms import key_form, person_form, revocation_form, sign_out_form
from jackpot_service.pages.set_up_places import added, list_values
from jackpot_service.records import keys as records
from jackpot_service.records import passkeys
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.keys import NoIssuer, add_user, create_key, find, revoke_key
from jackpot_service.usecases.sign_out import sign_out


@blueprint.route("/set-up/keys", methods=["GET"])
@people(*READERS)
def show_set_up_keys() -> str:
    """List all keys, revoked ones too, by the names of their owners."""
    query = read_place(ListQuerySchema())
    listed = page(
        query.values,
        lambda session, limit: records.by_name(session, limit=limit, after=query.values["after"]),
        lambda key: cursor(key.seq),
    )
    return flask.render_template(
        "set_up_keys.html", keys=listed["items"], has_issuer=_has_issuer(), **list_values(query.typed, listed)
    )


@blueprint.route("/set-up/keys/new", methods=["GET"])
@people(*ACTORS)
def show_new_key() -> Response:
    """Show the form by which a key is made."""
    return shown(key_form())


@blueprint.route("/set-up/keys/new", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def make_key() -> Response:
    """
    Make a key, and show it on the answer itself: no other page ever does.

    The same form again, as a browser sends it that loads the page anew, shows that it was made before.
    """
    form = key_form()

    def do() -> Response:
        body = NewKeySchema().load(read_form(form.fields))
        owner = Principal(
            body["principal"],
            body["role"],
            body["casino_id"],
            frozenset(body["table_ids"]),
            is_automaton=body["service_account"],
            department=body["department"],
        )
        created = act(lambda session: create_key(session, signed(body), owner))
        html = flask.render_template("set_up_key_made.html", owner=owner, key_id=created.key_id, key=created.key)
        return flask.Response(html, HTTPStatus.OK if created.key is None else HTTPStatus.CREATED)

    return sent(form, do)


@blueprint.route("/set-up/people/new", methods=["GET"])
@people(*ACTORS)
def show_new_person() -> Response:
    """Show the form by which somebody with a company account is let in. Raises: NoIssuer."""
    _require_issuer()
    return shown(person_form())


@blueprint.route("/set-up/people/new", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def let_in() -> Response:
    """Let somebody in by the subject of their company account; where that is refused, the form says why."""
    issuer, form = _require_issuer(), person_form()

    def do() -> Response:
        body = NewUserSchema().load(read_form(form.fields))
        person = Principal(body["principal"], Role(body["role"]), body["casino_id"], department=body["department"])
        subject = Subject(issuer, body["subject"])
        act(lambda session: add_user(session, signed(body), person, subject))
        return added("pages.show_set_up_keys", body["principal"])

    return sent(form, do)


@blueprint.route("/set-up/keys/<id:key_id>", methods=["GET"])
@people(*READERS)
def show_key(key_id: str) -> Response:
    """Show a key, whom it shows with their passkeys, and how they are kept out. Raises: UnknownKey."""
    key = look(lambda session: find(session, key_id))
    of_owner = look(lambda session: passkeys.all_of(session, key.principal.name))
    html = flask.render_template(
        "set_up_key.html",
        key=key,
        passkeys=of_owner,
        signed_out=_count_in_address(),
        may_act=principal().role in ACTORS,
    )
    return flask.Response(html)


@blueprint.route("/set-up/keys/<id:key_id>/revocation", methods=["GET"])
@people(*ACTORS)
def show_revocation(key_id: str) -> Response:
    """Show the form by which a key is revoked. Raises: UnknownKey."""
    return shown(revocation_form(look(lambda session: find(session, key_id))))


@blueprint.route("/set-up/keys/<id:key_id>/revocation", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def revoke(key_id: str) -> Response:
    """Revoke a key, for good; where that is refused, its form says why. Raises: UnknownKey."""
    form = revocation_form(look(lambda session: find(session, key_id)))

    def do() -> Response:
        body = RevocationSchema().load(read_form(form.fields))
        act(lambda session: revoke_key(session, signed(body), key_id))
        return flask.redirect(flask.url_for("pages.show_key", key_id=key_id), HTTPStatus.SEE_OTHER)

    return sent(form, do)


@blueprint.route("/set-up/keys/<id:key_id>/sign-out", methods=["GET"])
@people(*ACTORS)
def show_end_of_sessions(key_id: str) -> Response:
    """Show the form by which somebody is signed out of the pages. Raises: UnknownKey."""
    return shown(sign_out_form(look(lambda session: find(session, key_id))))


@blueprint.route("/set-up/keys/<id:key_id>/sign-out", methods=["POST"])
@people(*ACTORS, needs_proof=True)
def end_sessions(key_id: str) -> Response:
    """Sign the owner of a key out of the pages, everywhere. Raises: UnknownKey."""
    form = sign_out_form(look(lambda session: find(session, key_id)))

    def do() -> Response:
        typed = read_form(form.fields)
        body = SignOutSchema().load({name: value for name, value in typed.items() if name != "request_id"})
        done = act(lambda session: sign_out(session, signed(body), key_id))
        address = flask.url_for("pages.show_key", key_id=key_id, signed_out=done.sessions)
        return flask.redirect(address, HTTPStatus.SEE_OTHER)

    return sent(form, do)


def _has_issuer() -> bool:
    return context().config.oidc_issuer is not None


def _require_issuer() -> str:
    """Raises: NoIssuer."""
    issuer = context().config.oidc_issuer
    if issuer is None:
        message = "The service is configured without an issuer of tokens."
        raise NoIssuer(message)
    return issuer


def _count_in_address() -> int | None:
    """Return how many sessions were ended just now, as the address says."""
    typed = flask.request.args.get("signed_out", "")
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= len("9999") else None
