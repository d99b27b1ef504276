"""Signing in with a key or a passkey, showing it again before what is grave, and signing out."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import urlsplit

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.entrance import TooManyRequests
from jackpot_service.api.passkeys import site
from jackpot_service.api.request_context import ADDRESS
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.passkeys import BadAssertion
from jackpot_service.domain.principals import UserRequired
from jackpot_service.pages.access import PEOPLE, OldForm, open_to_all, people, person, signed_in
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.context import pages
from jackpot_service.pages.cookies import cookie
from jackpot_service.pages.passkey_forms import (
    NO_ANSWER,
    assertion_in,
    challenge_of_cookie,
    options_of_proof,
    options_of_sign_in,
)
from jackpot_service.pages.problems import show_problem
from jackpot_service.passkeys import Assertion
from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

T = TypeVar("T")

MISSING_KEY: Final = "Paste your key: it begins with jk_."
WRONG_KEY: Final = "This key is not in force. Check that it was pasted whole; it begins with jk_."
WRONG_PERSON: Final = "This key is not in force, or not your own."
OLD_FORM: Final = "This form was of an earlier session, or your browser keeps no cookies. Paste your key again."
WRONG_PASSKEY: Final = "This passkey is not accepted. Try again, or use your key."
NO_PERSON: Final = "This is the key of a machine. Pages are for people: show it with calls of the API."
TOO_MANY: Final = "Too many sign-ins from your address have failed. Wait a minute, then try again."

LONGEST_KEY: Final = 200
"""Characters; nothing longer is looked at."""

_seldom = Seldom()


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


@blueprint.route("/sign-in", methods=["GET"])
@open_to_all
def show_sign_in() -> Response:
    """Show the form in which a key is pasted."""
    if signed_in() is not None:
        return _on_to_next_page()
    return _sign_in_form()


@blueprint.route("/sign-in", methods=["POST"])
@open_to_all
def sign_in() -> Response:
    """Begin a session, with a new cookie: the one before is worth nothing any more."""
    try:
        secret = _by_key(pages().sessions.begin, wrong=WRONG_KEY)
    except WrongKey as error:
        return _sign_in_form(error)
    before = signed_in()
    if before is not None:
        pages().sessions.end(before)
    cookie().renew(secret)
    return _on_to_next_page()


@blueprint.route("/sign-in/passkey", methods=["POST"])
@open_to_all
def sign_in_with_passkey() -> Response:
    """Begin a session by a passkey, which names its person."""
    try:
        secret = _by_passkey(
            lambda assertion: pages().sessions.begin_with_passkey(assertion, site(), challenge_of_cookie())
        )
    except WrongKey as error:
        return _sign_in_form(error)
    before = signed_in()
    if before is not None:
        pages().sessions.end(before)
    cookie().renew(secret)
    return _on_to_next_page()


@blueprint.errorhandler(OldForm)
def show_again(error: OldForm) -> Response:
    """Show the sign-in again, with a token of now; any other form is opened again by its person."""
    if flask.request.endpoint not in {"pages.sign_in", "pages.sign_in_with_passkey"}:
        return show_problem(error)
    return _sign_in_form(WrongKey(OLD_FORM, status=HTTPStatus.BAD_REQUEST))


@blueprint.route("/sign-in/again", methods=["GET"])
@people(*PEOPLE)
def show_proof() -> Response:
    """Show the form in which a person shows their key again."""
    return _proof_form()


@blueprint.route("/sign-in/again", methods=["POST"])
@people(*PEOPLE)
def prove() -> Response:
    """Note that a person has shown their key again."""
    try:
        _by_key(lambda key: pages().sessions.prove(person(), key), wrong=WRONG_PERSON)
    except WrongKey as error:
        return _proof_form(error)
    return _on_to_next_page()


@blueprint.route("/sign-in/again/passkey", methods=["POST"])
@people(*PEOPLE)
def prove_with_passkey() -> Response:
    """Note that a person has shown a passkey of theirs."""
    shown = person()
    try:
        _by_passkey(
            lambda assertion: pages().sessions.prove_with_passkey(
                shown, assertion, site(), challenge_of_cookie(shown.session.proved_at)
            )
        )
    except WrongKey as error:
        return _proof_form(error)
    return _on_to_next_page()


@blueprint.route("/sign-out", methods=["POST"])
@people(*PEOPLE)
def sign_out() -> Response:
    """End the session, or with `everywhere` all sessions of the person."""
    if flask.request.form.get("everywhere"):
        pages().sessions.end_all(person())
    else:
        pages().sessions.end(person())
    cookie().forget()
    return flask.redirect(flask.url_for("pages.show_sign_in"), HTTPStatus.SEE_OTHER)


def _by_key(use: Callable[[str], T], *, wrong: str) -> T:
    """
    Use the key of the form; one that fails counts against the address that it came from.

    Raises: WrongKey, with `wrong` for a key that is not in force; Unavailable.
    """
    key = flask.request.form.get("key", "").strip()
    if not key or len(key) > LONGEST_KEY:
        raise WrongKey(wrong if key else MISSING_KEY)
    return _attempted(key, use, wrong=wrong)


def _by_passkey(use: Callable[[Assertion], T]) -> T:
    """Use the assertion of the form, as `_by_key` a key. Raises: WrongKey; Unavailable."""
    try:
        assertion = assertion_in(flask.request.form)
    except BadAssertion as error:
        raise WrongKey(error.detail) from error
    if assertion is None:
        raise WrongKey(NO_ANSWER)
    return _attempted("", lambda _: use(assertion), wrong=WRONG_PASSKEY)


def _attempted(key: str, use: Callable[[str], T], *, wrong: str) -> T:
    """Use what was shown, and count it if it fails. Raises: as `_by_key`."""
    address = str(flask.request.environ.get(ADDRESS, ""))
    try:
        with pages().attempts.attempt(address, key):
            return use(key)
    except TooManyRequests as error:
        raise WrongKey(TOO_MANY, status=HTTPStatus.TOO_MANY_REQUESTS, retry_after_s=error.retry_after_s) from error
    except Unauthenticated as error:
        counters.count(counters.SIGN_INS_REFUSED)
        _seldom.warning("sign-in-refused", about=address, address=address)
        raise WrongKey(wrong) from error
    except UserRequired as error:
        raise WrongKey(NO_PERSON) from error


def _sign_in_form(error: WrongKey | None = None) -> Response:
    cookie().keep()
    return _form("sign_in.html", error, passkey_options=options_of_sign_in())


def _proof_form(error: WrongKey | None = None) -> Response:
    shown = person()
    options = options_of_proof(shown.session.proved_at)
    return _form("sign_in_again.html", error, principal=shown.principal, passkey_options=options)


def _form(template: str, error: WrongKey | None, **values: object) -> Response:
    page = flask.render_template(template, error=error, next_page=_next_page(), **values)
    response = flask.Response(page, HTTPStatus.OK if error is None else error.status)
    if error is not None and error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def _on_to_next_page() -> Response:
    return flask.redirect(_next_page(), HTTPStatus.SEE_OTHER)


def _next_page() -> str:
    """The page that somebody came from, if it is one of this service: else the first page of their role."""
    page = flask.request.values.get("next", "")
    try:
        parts = urlsplit(page)
    except ValueError:
        return "/"
    is_here = page.startswith("/") and not page.startswith(("//", "/\\")) and page.isprintable()
    return page if is_here and not (parts.scheme or parts.netloc) else "/"
