"""
Sign-ins at the issuer of a test, by the authorization code flow with PKCE, as strict as a real one.

A person agrees at once, as somebody does whom the issuer knows already. A code is good once, for its client, its
redirect address and its verifier.
"""

import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

from tests.support.issuer import LocalIssuer

CLIENT: Final = "ledger pages"
SECRET: Final = "s3cret/+:%"


@dataclass
class CodeFlow:
    """
    The sign-ins of an issuer: who is in front of it, whether they agree, and what its tokens claim otherwise.

    `signed_in_ago` is how long ago they showed who they are; a client that asks for it has them show it now, if
    `heeds_prompt`. `requests` are the queries that came, `errors` what was refused.
    """

    issuer: LocalIssuer
    clock: Callable[[], datetime]
    redirect_uri: str
    subject: str = "sub-ann"
    error: str | None = None
    signed_in_ago: timedelta = timedelta(0)
    heeds_prompt: bool = True
    claims: dict[str, Any] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    requests: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def announce(self, **more: object) -> None:
        """Publish the places of the issuer."""
        url = self.issuer.url
        self.issuer.code_flow = self
        document: dict[str, object] = {
            "issuer": url,
            "jwks_uri": f"{url}/keys",
            "authorization_endpoint": f"{url}/authorize",
        }
        document |= {"token_endpoint": f"{url}/token", "end_session_endpoint": f"{url}/end?x=1"} | more
        self.issuer.answer("/.well-known/openid-configuration", document)

    def authorize(self, address: str) -> str:
        """Take a person who wants to sign in; returns where they are sent, with a code or an error."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.requests.append(query)
        assert (query["client_id"], query["redirect_uri"]) == (CLIENT, self.redirect_uri)
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        if self.error is not None:
            answer = {"error": self.error, "error_description": "<script>alert(1)</script>"}
        else:
            code = secrets.token_urlsafe()
            self.codes[code] = query
            answer = {"code": code}
        answer |= {"state": query["state"]} | self.answered
        return f"{self.redirect_uri}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], authorization: str | None) -> tuple[int, dict[str, Any]]:
        """Exchange a code for tokens; returns status and body."""
        if authorization is None:
            is_client = (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        else:
            shown = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            is_client = shown == f"{quote_plus(CLIENT)}:{quote_plus(SECRET)}"
        if not is_client:
            return 401, {"error": "invalid_client"}
        query = self.codes.pop(form["code"], None)
        if query is None or form["redirect_uri"] != query["redirect_uri"] or not _fits(form, query):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "not for us", "token_type": "Bearer", "id_token": self._id_token(query)}

    def _id_token(self, query: dict[str, str]) -> str:
        now = self.clock()
        is_asked_again = "max_age" in query and self.heeds_prompt
        auth_time = now if is_asked_again else now - self.signed_in_ago
        claims: dict[str, Any] = {"aud": CLIENT, "sub": self.subject, "nonce": query["nonce"]}
        claims["auth_time"] = int(auth_time.timestamp())
        return self.issuer.token(now, **(claims | self.claims))


def _fits(form: dict[str, str], query: dict[str, str]) -> bool:
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == query["code_challenge"]
