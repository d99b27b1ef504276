"""A person with a browser, as far as pages without scripts need one: it keeps cookies, and sends forms with tokens."""

import re
from collections.abc import Mapping, Sequence
from html import unescape
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from jackpot_service.app import Application
from jackpot_service.domain.principals import Role
from tests.support.answers import Answer
from tests.support.asgi import answer_to
from tests.support.world import World

COOKIE = "__Host-jackpot"

ACCEPTED = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
"""As browsers ask for a page."""


class Visitor:
    """Somebody who opens pages of a world's application."""

    def __init__(self, world: World, *, app: Application | None = None) -> None:
        self.world = world
        self.app = app or world.app
        self.cookies: dict[str, str] = {}

    def open(self, path: str, **headers: str) -> Answer:
        """Open a page, as a browser asks for it."""
        return self._send("GET", path, None, headers)

    def submit(self, path: str, form: Mapping[str, str], *, page: str | None = None, **headers: str) -> Answer:
        """Send a form with the token that stands on its page."""
        shown = self.open(page or path)
        return self.post(path, {"csrf_token": token_in(shown.text), **form}, **headers)

    def post(self, path: str, form: Mapping[str, str] | Sequence[tuple[str, str]], **headers: str) -> Answer:
        """Send a form as it is; as pairs, if a field is there more than once."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self._send("POST", path, urlencode(form).encode(), sent)

    def sign_in(self, role: Role = Role.FINANCE, *, key: str | None = None) -> "Visitor":
        """Sign in with a key of a role."""
        answer = self.submit("/sign-in", {"key": key or self.world.key(role)})
        assert answer.status == 303, answer.text
        return self

    def _send(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> Answer:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {"Accept": ACCEPTED, **({"Cookie": cookies} if cookies else {}), **headers}
        answer = answer_to(self.app.asgi, method, path, data=data, headers=sent)
        for line in answer.headers.getlist("Set-Cookie"):
            self._keep(line)
        return answer

    def _keep(self, line: str) -> None:
        for name, morsel in SimpleCookie(line).items():
            if morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value


def token_in(page: str) -> str:
    """Return the token of a page's forms."""
    match = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert match, page
    return unescape(match[1])
