"""
Access to pages: each states the roles of the people who may see it, or that it is open to all.

A page that somebody may not see is answered as if it were not there. A person who is not signed in is led to the
sign-in, and from there to the page that they asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit, urlunsplit

import flask
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import BadRequest, NotFound
from werkzeug.wrappers import Response

from jackpot_service.api.fast_path import MOST_FORM_BYTES
from jackpot_service.api.request_context import now
from jackpot_service.auth.authenticator import page
from jackpot_service.auth.browser_sessions import SignedIn
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.context import pages
from jackpot_service.pages.cookies import cookie

View = TypeVar("View", bound=Callable[..., Any])

PEOPLE: Final = frozenset({Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR})
"""The roles that a person can have."""

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, so they are no forms."""


class OldForm(BadRequest):
    """A form that was made for another session: the person has signed in or out since, or keeps no cookies."""

    description = "This form is of an earlier session. Open the page again, and send it from there."


csrf = CSRFProtect()
"""It is asked by `require`: the API takes no cookie, so nothing of it can be forged."""


@dataclass(frozen=True, slots=True)
class Audience:
    """
    The people who may see a page: those of these roles, or everybody if they are None.

    With `needs_proof` a form is taken only from somebody who has shown their key within a quarter of an hour. A page
    `of_house` is not for the people of a casino. A part of a page that `is_poll` is requested by the page itself, again
    and again: nobody clicked, so it does not keep a session alive.
    """

    roles: frozenset[Role] | None
    needs_proof: bool = False
    of_house: bool = False
    is_poll: bool = False

    def admits(self, principal: Principal) -> bool:
        """Whether somebody who is signed in may see the page."""
        if self.roles is None:
            return True
        return principal.role in self.roles and not (self.of_house and principal.casino_id is not None)


def people(
    *roles: Role, needs_proof: bool = False, of_house: bool = False, is_poll: bool = False
) -> Callable[[View], View]:
    """State which people may see a page; see `Audience`."""
    return partial(_mark, Audience(frozenset(roles), needs_proof=needs_proof, of_house=of_house, is_poll=is_poll))


def open_to_all(view: View) -> View:
    """State that anybody may see a page."""
    return _mark(Audience(None), view)


def _mark(audience: Audience, view: View) -> View:
    view.audience = audience  # type: ignore[attr-defined]
    return page(view)


def audience_of(endpoint: str) -> Audience:
    """Return who may see the page of an endpoint."""
    view: Any = flask.current_app.view_functions[endpoint]
    audience: Audience = view.audience
    return audience


def require() -> Response | None:
    """
    Find who sees the page, and refuse or lead away those who may not. Before every view of the pages.

    Raises: BadRequest for a form from elsewhere; OldForm; NotFound; Unavailable.
    """
    audience = audience_of(flask.request.endpoint or "")
    is_form = flask.request.method not in SAFE
    if is_form:
        _require_own_form()
    shown = flask.g.signed_in = _find(is_click=not audience.is_poll) if cookie().is_shown else None
    if audience.roles is None:
        return None
    if shown is None:
        return led_away("pages.show_sign_in")
    flask.g.principal = shown.principal
    if not audience.admits(shown.principal):
        raise NotFound
    if audience.needs_proof and is_form and not shown.has_proved(at=now()):
        return led_away("pages.show_proof")
    return None


def _find(*, is_click: bool) -> SignedIn | None:
    return pages().sessions.find(cookie().secret, is_click=is_click)


def signed_in() -> SignedIn | None:
    """Return who sees the page; None if nobody is signed in."""
    shown: SignedIn | None = flask.g.get("signed_in")
    return shown


def person() -> SignedIn:
    """Return who sees the page. Raises: LookupError on a page that is open to all, if nobody is signed in."""
    shown = signed_in()
    if shown is None:
        message = "Nobody is signed in."
        raise LookupError(message)
    return shown


def led_away(endpoint: str) -> Response:
    """
    Lead to another page, which leads back to this one, or to the page of this form.

    A part of a page, which htmx asks for, leads the whole page. `unsent` says that a form was not taken.
    """
    unsent = None if flask.request.method in SAFE else "form"
    target = flask.url_for(endpoint, next=_page_in_front(), unsent=unsent)
    if "HX-Request" in flask.request.headers:
        return Response(status=204, headers={"HX-Redirect": target})
    return flask.redirect(target, 303)


def _page_in_front() -> str:
    """
    The address, within this service, of the page that somebody looks at.

    Of the page before, its host says nothing: a proxy in front has another one than the service sees.
    """
    request = flask.request
    if request.method in SAFE and "HX-Request" not in request.headers:
        return request.full_path.rstrip("?")
    try:
        before = urlsplit(request.referrer or "")
    except ValueError:
        return "/"
    return urlunsplit(("", "", before.path or "/", before.query, ""))


def _require_own_form() -> None:
    """Raises: BadRequest unless a form was sent from a page of this service, to the browser that it was made for."""
    if flask.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        message = "This form was sent from a page of another site."
        raise BadRequest(message)
    flask.request.max_content_length = MOST_FORM_BYTES
    try:
        csrf.protect()
    except (CSRFError, TypeError) as error:  # The second of a token that is signed, and is no text in ASCII.
        raise OldForm from error
