"""
Signing in by a company account: to the issuer, and back with its answer.

A link leads there, no form: the policy of the pages lets forms lead nowhere else. The page to go on to waits in a
cookie meanwhile, so the issuer learns nothing of it.
"""

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote

import flask
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.entrance import TooManyRequests
from jackpot_service.api.request_context import ADDRESS, now
from jackpot_service.auth.authenticator import BadKeyShown
from jackpot_service.auth.company_accounts import (
    ANSWERED_AT,
    ClientRefused,
    CodeRefused,
    CompanyAccount,
    CompanyAccounts,
    NotShownAgain,
)
from jackpot_service.auth.issuer import PAUSE_S, IssuerUnavailable
from jackpot_service.auth.sign_in_attempts import LONGEST, Attempt, UnknownAttempt
from jackpot_service.auth.tokens import BadToken
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.principals import UserRequired
from jackpot_service.pages.access import PEOPLE, open_to_all, people, signed_in
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.context import pages
from jackpot_service.pages.cookies import cookie
from jackpot_service.pages.sign_in_forms import (
    TOO_MANY,
    WrongAccount,
    begun,
    next_page,
    on_to_next_page,
    own_page,
    proof_form,
    sign_in_form,
    who_tries,
)
from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

NEXT_COOKIE: Final = "__Host-jackpot-next"
"""Holds the id of the attempt, and the page that it leads to."""

LONGEST_NEXT: Final = 2000
"""Characters of an address that is kept; browsers keep no cookie of more than 4 KiB."""

CONSENT_REFUSED: Final = "The sign-in at your company was refused or cancelled. You are not signed in."
FOREIGN_ANSWER: Final = "This answer comes from another sign-in than that of your company. Begin again here."
NO_ANSWER: Final = "The sign-in of your company does not answer. Try again in a minute, or sign in with a key."
NOT_AGAIN: Final = "The sign-in of your company did not ask you again who you are. Nothing was done. Try once more."
NO_PERSON: Final = "This account does not belong to a person. Only people sign in here."
NOT_YOURS: Final = "This is another account than the one that you have signed in with."
REFUSED: Final = "The sign-in of your company refuses: it answers «{}». Try again, or ask who runs it."
UNKNOWN_ATTEMPT: Final = "This sign-in was begun in another browser, or it is over. Begin again here."
UNKNOWN_SUBJECT: Final = "Your company knows you, but nobody has let you in here. Give an operator your subject: {}"
USED_CODE: Final = "This sign-in was used before, or it took too long. Begin again here."
WRONG_CLIENT: Final = "The sign-in of your company does not know this service. Who runs the service has to mend that."
WRONG_TOKEN: Final = "The answer of your company's sign-in is not valid. Try again, or ask who runs it."  # noqa: S105

_ERROR: Final = re.compile(r"[a-z_]{1,40}")
"""Of an error that the issuer names, as OAuth 2.0 writes them: nothing else of what it says is shown."""

MESSAGES: Final[dict[type[Unauthenticated], str]] = {
    BadToken: WRONG_TOKEN,
    CodeRefused: USED_CODE,
    NotShownAgain: NOT_AGAIN,
}

_seldom = Seldom()


class NotAdmitted(Unauthenticated, code="unauthenticated"):
    """An account that nobody has let in, or somebody else's; the detail is what its person reads."""


FAULTS: Final[tuple[type[Unauthenticated], ...]] = (NotAdmitted, *MESSAGES)


@blueprint.route("/sign-in/account", methods=["GET"])
@open_to_all
def go_to_account() -> Response:
    """Lead to the sign-in of the company. Raises: NotFound where people have keys only."""
    if signed_in() is not None:
        return on_to_next_page()
    cookie().keep()
    return _to_issuer(is_proof=False)


@blueprint.route("/sign-in/again/account", methods=["GET"])
@people(*PEOPLE)
def go_to_account_again() -> Response:
    """Lead to the sign-in of the company, which is to ask again who one is. Raises: NotFound."""
    return _to_issuer(is_proof=True)


@blueprint.route(ANSWERED_AT, methods=["GET"])
@open_to_all
def take_answer() -> Response:
    """Take the answer that the company's sign-in sends a browser with. Raises: NotFound; Unavailable."""
    accounts = _accounts()
    try:
        attempt = Attempt.find(flask.request.args.get("state", ""), cookie().secret, at=now())
    except UnknownAttempt:
        return _form(WrongAccount(UNKNOWN_ATTEMPT, status=HTTPStatus.BAD_REQUEST), "/")
    try:
        response = _admitted(accounts, attempt)
    except WrongAccount as error:
        return _form(error, _page_of(attempt))
    response.delete_cookie(NEXT_COOKIE, path="/", secure=True, httponly=True, samesite="Lax")
    return response


@blueprint.route("/sign-out/account", methods=["GET"])
@open_to_all
def leave_account() -> Response:
    """Lead to where one signs out of the company's account. Raises: NotFound, also where there is no such page."""
    try:
        address = _accounts().end_address()
    except IssuerUnavailable:
        return _form(_unavailable(), "/")
    if address is None:
        raise NotFound
    return flask.redirect(address, HTTPStatus.SEE_OTHER)


def _accounts() -> CompanyAccounts:
    accounts = pages().accounts
    if accounts is None:
        raise NotFound
    return accounts


def _to_issuer(*, is_proof: bool) -> Response:
    attempt = Attempt.begin(cookie().secret, at=now(), is_proof=is_proof)
    try:
        address = _accounts().address(attempt)
    except IssuerUnavailable:
        return _form(_unavailable(), next_page())
    response = flask.redirect(address, HTTPStatus.SEE_OTHER)
    page = quote(next_page(), safe="/")
    waiting = f"{attempt.attempt_id}:{page if len(page) <= LONGEST_NEXT else '/'}"
    response.set_cookie(NEXT_COOKIE, waiting, max_age=LONGEST, path="/", secure=True, httponly=True, samesite="Lax")
    return response


def _admitted(accounts: CompanyAccounts, attempt: Attempt) -> Response:
    """Raises: WrongAccount; Unavailable."""
    name = who_tries()
    try:
        with pages().attempts.attempt(name):
            return _signed_in_by(accounts.account(_code(accounts), attempt), attempt)
    except TooManyRequests as error:
        status = HTTPStatus.TOO_MANY_REQUESTS
        raise WrongAccount(TOO_MANY, status=status, retry_after_s=error.retry_after_s) from error
    except IssuerUnavailable as error:
        raise _unavailable() from error
    except ClientRefused as error:
        raise WrongAccount(WRONG_CLIENT, status=HTTPStatus.SERVICE_UNAVAILABLE) from error
    except UserRequired as error:
        raise WrongAccount(NO_PERSON) from error
    except FAULTS as error:
        counters.count(counters.SIGN_INS_REFUSED)
        address = str(flask.request.environ.get(ADDRESS, ""))
        _seldom.warning("sign-in-refused", about=name, address=address, why=type(error).__name__)
        raise WrongAccount(MESSAGES.get(type(error)) or error.detail) from error


def _code(accounts: CompanyAccounts) -> str:
    """Return the code of the answer. Raises: WrongAccount if it brings none, or is another issuer's."""
    query = flask.request.args
    if not accounts.is_own_answer(query.get("iss")):
        raise WrongAccount(FOREIGN_ANSWER, status=HTTPStatus.BAD_REQUEST)
    error = query.get("error", "")
    if error == "access_denied":
        raise WrongAccount(CONSENT_REFUSED)
    if error:
        raise WrongAccount(REFUSED.format(error if _ERROR.fullmatch(error) else "an error"))
    return query.get("code", "")


def _signed_in_by(account: CompanyAccount, attempt: Attempt) -> Response:
    """Raises: NotAdmitted; UserRequired; Unavailable."""
    page, sessions, shown = _page_of(attempt), pages().sessions, signed_in()
    if not attempt.is_proof:
        try:
            return begun(sessions.begin_by_account(account), page)
        except BadKeyShown as error:
            raise NotAdmitted(UNKNOWN_SUBJECT.format(account.subject.subject)) from error
    if shown is None:
        return flask.redirect(flask.url_for("pages.show_sign_in", next=page), HTTPStatus.SEE_OTHER)
    try:
        sessions.prove_by_account(shown, account)
    except BadKeyShown as error:
        raise NotAdmitted(NOT_YOURS) from error
    return on_to_next_page(page)


def _page_of(attempt: Attempt) -> str:
    """Return the page that an attempt leads to; the first one, if another attempt has begun since."""
    attempt_id, _, page = flask.request.cookies.get(NEXT_COOKIE, "").partition(":")
    return own_page(unquote(page)) if attempt_id == attempt.attempt_id else "/"


def _unavailable() -> WrongAccount:
    return WrongAccount(NO_ANSWER, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_after_s=PAUSE_S)


def _form(error: WrongAccount, page: str) -> Response:
    """Show again how one signs in, or shows who one is; and what was wrong."""
    return sign_in_form(error, page=page) if signed_in() is None else proof_form(error, page=page)
