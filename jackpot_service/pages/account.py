"""The page of the person who is signed in: who they are here, until when, and in which colours they see the pages."""

from http import HTTPStatus

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.request_context import look, principal
from jackpot_service.pages import frame
from jackpot_service.pages.access import PEOPLE, open_to_all, people, person, signed_in
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.forms import new_request_id
from jackpot_service.records import passkeys

A_YEAR_S = 365 * 24 * 3600


@blueprint.route("/", methods=["GET"])
@open_to_all
def show_beginning() -> Response:
    """Lead to the first page of a person's role, or to the sign-in."""
    shown = signed_in()
    address = flask.url_for("pages.show_sign_in") if shown is None else frame.first_page(shown.principal)
    return flask.redirect(address, HTTPStatus.SEE_OTHER)


@blueprint.route("/account", methods=["GET"])
@people(*PEOPLE)
def show_account() -> str:
    """Show who is signed in and what they may do."""
    return account_page()


def account_page(*, alert: str = "", name: str = "", name_error: str = "") -> str:
    """Write the page; perhaps with an alert, or with the name of a passkey to add and its error."""
    shown = person()
    own = look(lambda session: passkeys.all_of(session, principal().name))
    return flask.render_template(
        "account.html",
        principal=shown.principal,
        session=shown.session,
        passkeys=own,
        may_revoke=sum(listed.revoked_at is None for listed in own) > 1,
        request_id=new_request_id(),
        alert=alert,
        name=name,
        name_error=name_error,
    )


@blueprint.route("/account/colours", methods=["POST"])
@people(*PEOPLE)
def choose_colours() -> Response:
    """Keep the colours that somebody chose in a cookie; those of their machine are none."""
    chosen = flask.request.form.get("scheme", "")
    response = flask.redirect(flask.url_for("pages.show_account"), HTTPStatus.SEE_OTHER)
    if chosen in frame.SCHEMES:
        response.set_cookie(frame.SCHEME_COOKIE, chosen, max_age=A_YEAR_S, path="/", samesite="Lax", secure=True)
    else:
        response.delete_cookie(frame.SCHEME_COOKIE, path="/", samesite="Lax", secure=True)
    return response
