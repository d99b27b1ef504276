"""The forms of signing in, whichever the way: what is wrong stands in them, and afterwards they lead where one was."""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.request_context import ADDRESS
from jackpot_service.auth.issuer import IssuerUnavailable
from jackpot_service.pages.access import person, signed_in
from jackpot_service.pages.context import pages
from jackpot_service.pages.cookies import cookie
from jackpot_service.pages.passkey_forms import options_of_proof, options_of_sign_in

TOO_MANY: Final = "Too many sign-ins have failed from here. Wait a minute, then try again."


class WrongKey(Exception):
    """The key of a form is wrong; the message is what its person reads."""

    def __init__(
        self,
        message: str,
        *,
        status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class WrongAccount(WrongKey):
    """Nobody is signed in by an account; the message is what its person reads."""


def sign_in_form(error: WrongKey | None = None, *, page: str | None = None) -> Response:
    """Show how one signs in, to go on to a page; by default to that of the query or of the form."""
    cookie().keep()
    return _form(
        "sign_in.html", error, page, may_leave_account=_may_leave_account(), passkey_options=options_of_sign_in()
    )


def proof_form(error: WrongKey | None = None, *, page: str | None = None) -> Response:
    """
    Show how one shows again who one is, by the way that one has signed in; see `sign_in_form`.

    With `by=passkey` in the query nothing else will do.
    """
    shown = person()
    return _form(
        "sign_in_again.html",
        error,
        page,
        principal=shown.principal,
        by_account=shown.by_account,
        only_passkey=flask.request.args.get("by") == "passkey",
        passkey_options=options_of_proof(shown),
    )


def who_tries() -> str:
    """Name whose failures count together: those of a session, and of everybody who has none at an address."""
    shown = signed_in()
    return str(flask.request.environ.get(ADDRESS, "")) if shown is None else f"session {shown.secret_hash.hex()[:16]}"


def begun(secret: str, page: str | None = None) -> Response:
    """Have the browser keep a session that has begun; the one before it ends. Leads on as `on_to_next_page`."""
    before = signed_in()
    if before is not None:
        pages().sessions.end(before)
    cookie().renew(secret)
    return on_to_next_page(page)


def on_to_next_page(page: str | None = None) -> Response:
    """Lead to a page, by default to that of the query or of the form."""
    return flask.redirect(next_page() if page is None else page, HTTPStatus.SEE_OTHER)


def next_page() -> str:
    """Return the page that somebody came from, if it is one of this service: else the first page of their role."""
    return own_page(flask.request.values.get("next", ""))


def own_page(page: str) -> str:
    """Return a page of this service; anything else is the first page."""
    try:
        parts = urlsplit(page)
    except ValueError:
        return "/"
    is_here = page.startswith("/") and not page.startswith(("//", "/\\")) and page.isprintable()
    return page if is_here and not (parts.scheme or parts.netloc) else "/"


def _may_leave_account() -> bool:
    """Whether somebody has just signed out here, and could do so at their company too."""
    accounts = pages().accounts
    if accounts is None or flask.request.args.get("left") != "account":
        return False
    try:
        return accounts.end_address() is not None
    except IssuerUnavailable:
        return False


def _form(template: str, error: WrongKey | None, page: str | None, **values: object) -> Response:
    is_of_account = isinstance(error, WrongAccount)
    html = flask.render_template(
        template,
        error=None if is_of_account else error,
        account_error=error if is_of_account else None,
        has_accounts=pages().accounts is not None,
        is_unsent=bool(flask.request.values.get("unsent")),
        next_page=next_page() if page is None else page,
        **values,
    )
    response = flask.Response(html, HTTPStatus.OK if error is None else error.status)
    if error is not None and error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response
