"""Signing in with a key or a passkey, showing it again before what is grave, and signing out; see also `by_account`."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.entrance import TooManyRequests
from jackpot_service.api.passkeys import site
from jackpot_service.api.request_context import ADDRESS
from jackpot_service.auth.authenticator import BadKeyShown
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.passkeys import BadAssertion
from jackpot_service.domain.principals import UserRequired
from jackpot_service.pages.access import PEOPLE, OldForm, open_to_all, people, person, signed_in
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.context import pages
from jackpot_service.pages.cookies import cookie
from jackpot_service.pages.passkey_forms import (
    NO_ANSWER,
    OldQuestion,
    Question,
    assertion_in,
    question_of,
)
from jackpot_service.pages.problems import show_problem
from jackpot_service.pages.sign_in_forms import (
    TOO_MANY,
    WrongKey,
    begun,
    on_to_next_page,
    proof_form,
    sign_in_form,
    who_tries,
)
from jackpot_service.passkeys import Assertion
from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

T = TypeVar("T")

MISSING_KEY: Final = "Paste your key: it begins with jk_."
WRONG_KEY: Final = "This key is not valid. Check that you pasted all of it; it begins with jk_."
WRONG_PERSON: Final = "This key is not valid, or not your own."
OLD_FORM: Final = "This form belongs to an earlier session, or your browser blocks cookies. Paste your key again."
OLD_PAGE: Final = "This page was open for too long, and is renewed now. Try again."
WRONG_PASSKEY: Final = "This passkey is not accepted. Try again, or use your key."
NO_PERSON: Final = "This key belongs to a machine. Only people sign in here; use the key for calls of the API."

LONGEST_KEY: Final = 200
"""Characters; nothing longer is looked at."""

_seldom = Seldom()


@blueprint.route("/sign-in", methods=["GET"])
@open_to_all
def show_sign_in() -> Response:
    """Show the form in which a key is pasted."""
    if signed_in() is not None:
        return on_to_next_page()
    return sign_in_form()


@blueprint.route("/sign-in", methods=["POST"])
@open_to_all
def sign_in() -> Response:
    """Begin a session, with a new cookie: the one before is worth nothing any more."""
    try:
        secret = _by_key(pages().sessions.begin, wrong=WRONG_KEY)
    except WrongKey as error:
        return sign_in_form(error)
    return begun(secret)


@blueprint.route("/sign-in/passkey", methods=["POST"])
@open_to_all
def sign_in_with_passkey() -> Response:
    """Begin a session by a passkey, which names its person."""
    try:
        secret = _by_passkey(
            lambda assertion, question: pages().sessions.begin_with_passkey(
                assertion, site(), question.challenge, asked_at=question.asked_at
            )
        )
    except WrongKey as error:
        return sign_in_form(error)
    return begun(secret)


@blueprint.errorhandler(OldForm)
def show_again(error: OldForm) -> Response:
    """Show the sign-in again, with a token of now; any other form is opened again by its person."""
    if flask.request.endpoint not in {"pages.sign_in", "pages.sign_in_with_passkey"}:
        return show_problem(error)
    return sign_in_form(WrongKey(OLD_FORM, status=HTTPStatus.BAD_REQUEST))


@blueprint.route("/sign-in/again", methods=["GET"])
@people(*PEOPLE)
def show_proof() -> Response:
    """Show the form in which a person shows their key again."""
    return proof_form()


@blueprint.route("/sign-in/again", methods=["POST"])
@people(*PEOPLE)
def prove() -> Response:
    """Note that a person has shown their key again."""
    try:
        _by_key(lambda key: pages().sessions.prove(person(), key), wrong=WRONG_PERSON)
    except WrongKey as error:
        return proof_form(error)
    return on_to_next_page()


@blueprint.route("/sign-in/again/passkey", methods=["POST"])
@people(*PEOPLE)
def prove_with_passkey() -> Response:
    """Note that a person has shown a passkey of theirs."""
    shown = person()
    try:
        _by_passkey(
            lambda assertion, question: pages().sessions.prove_with_passkey(
                shown, assertion, site(), question.challenge, asked_at=question.asked_at
            )
        )
    except WrongKey as error:
        return proof_form(error)
    return on_to_next_page()


@blueprint.route("/sign-out", methods=["POST"])
@people(*PEOPLE)
def sign_out() -> Response:
    """End the session, or with `everywhere` all sessions of the person."""
    if flask.request.form.get("everywhere"):
        pages().sessions.end_all(person())
    else:
        pages().sessions.end(person())
    cookie().forget()
    left = "account" if person().by_account else None
    return flask.redirect(flask.url_for("pages.show_sign_in", left=left), HTTPStatus.SEE_OTHER)


def _by_key(use: Callable[[str], T], *, wrong: str) -> T:
    """
    Use the key of the form; one that fails counts against where it came from, see `who_tries`.

    Raises: WrongKey, with `wrong` for a key that is not in force; Unavailable.
    """
    key = flask.request.form.get("key", "").strip()
    if not key or len(key) > LONGEST_KEY:
        raise WrongKey(wrong if key else MISSING_KEY)
    return _attempted(lambda: use(key), wrong=wrong, is_known=lambda: pages().sessions.knows_key(key))


def _by_passkey(use: Callable[[Assertion, Question], T]) -> T:
    """Use the assertion of the form, as `_by_key` a key. Raises: WrongKey; Unavailable."""
    try:
        assertion = assertion_in(flask.request.form)
    except BadAssertion as error:
        raise WrongKey(error.detail) from error
    if assertion is None:
        raise WrongKey(NO_ANSWER)
    credential_id = assertion.credential_id
    return _attempted(
        lambda: use(assertion, _question(assertion)),
        wrong=WRONG_PASSKEY,
        is_known=lambda: pages().sessions.knows_passkey(credential_id),
    )


def _question(assertion: Assertion) -> Question:
    """Raises: WrongKey; BadKeyShown."""
    try:
        return question_of(assertion)
    except OldQuestion as error:
        raise WrongKey(OLD_PAGE) from error
    except BadAssertion as error:
        raise BadKeyShown(error.detail) from error


def _attempted(use: Callable[[], T], *, wrong: str, is_known: Callable[[], bool]) -> T:
    """Use what was shown, and count it if it fails. Raises: as `_by_key`."""
    name = who_tries()
    try:
        with pages().attempts.attempt(name, is_known=is_known):
            return use()
    except TooManyRequests as error:
        raise WrongKey(TOO_MANY, status=HTTPStatus.TOO_MANY_REQUESTS, retry_after_s=error.retry_after_s) from error
    except Unauthenticated as error:
        counters.count(counters.SIGN_INS_REFUSED)
        _seldom.warning("sign-in-refused", about=name, address=str(flask.request.environ.get(ADDRESS, "")))
        raise WrongKey(wrong) from error
    except UserRequired as error:
        raise WrongKey(NO_PERSON) from error
