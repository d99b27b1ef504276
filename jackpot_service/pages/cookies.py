"""
The one cookie of the pages, as Flask's session: it holds a secret, and its token against forged forms follows from it.

The token is Flask-WTF's. It signs a hash of the secret that nobody else can know. So its own key need not be secret,
and workers that share nothing understand each other's forms.
"""

import hashlib
import hmac
import re
import secrets
from typing import Any, Final

import flask
from flask.globals import request_ctx
from flask.sessions import SessionInterface, SessionMixin

from jackpot_service.auth.browser_sessions import SECRET_BYTES

NAME: Final = "__Host-jackpot"
"""The prefix lets a browser take it from this host only, over TLS or from the machine itself, for every path."""

TOKEN: Final = "csrf_token"  # noqa: S105  a name
"""Under which Flask-WTF keeps its token in the session."""

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class Cookie(dict[str, Any], SessionMixin):
    """A cookie as a browser shows it. If it shows none, the secret is new, and sent only after `keep`."""

    def __init__(self, secret: str | None) -> None:
        self.is_shown = secret is not None
        self.is_to_send = False
        self.is_to_forget = False
        self._set(secret or secrets.token_urlsafe(SECRET_BYTES))

    def _set(self, secret: str) -> None:
        self.secret = secret
        super().__init__({TOKEN: hmac.new(secret.encode(), b"forms", hashlib.sha256).hexdigest()})

    def keep(self) -> None:
        """Have the browser keep the secret, for a form that it is to send back."""
        self.is_to_send = True

    def renew(self, secret: str) -> None:
        """Have the browser keep another secret: that of a session."""
        self._set(secret)
        self.is_to_send = True

    def forget(self) -> None:
        """Have the browser forget it."""
        self.is_to_forget = True


class Cookies(SessionInterface):
    """Reads the cookie of a request, and sends one only where a page has it sent."""

    def open_session(self, app: flask.Flask, request: flask.Request) -> Cookie:  # noqa: ARG002  as the base
        """Read the cookie; one that is no secret of ours is none."""
        shown = request.cookies.get(NAME, "")
        return Cookie(shown if _SECRET.fullmatch(shown) else None)

    def save_session(self, app: flask.Flask, session: SessionMixin, response: flask.Response) -> None:  # noqa: ARG002
        """Send the cookie, or have it forgotten."""
        if not isinstance(session, Cookie):
            return
        if session.is_to_forget:
            response.delete_cookie(NAME, path="/", secure=True, httponly=True, samesite="Lax")
        elif session.is_to_send:
            response.set_cookie(NAME, session.secret, path="/", secure=True, httponly=True, samesite="Lax")


def cookie() -> Cookie:
    """Return the cookie of the request in hand."""
    shown = request_ctx.session
    assert isinstance(shown, Cookie)  # noqa: S101
    return shown
