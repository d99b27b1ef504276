"""
Company accounts: people sign in at the issuer, which sends their browser back with a code (OpenID Connect Core 1.0).

The code is exchanged for an ID token, which is checked as every token is, and for the nonce of its attempt. The token
gives a subject, and is then forgotten: it is written nowhere, and no other token is asked for.
"""

import hmac
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx
import structlog

from jackpot_service.auth.endpoints import Discovery, unavailable
from jackpot_service.auth.issuer import IssuerUnavailable
from jackpot_service.auth.issuer_http import answer_to, issuer_client
from jackpot_service.auth.sign_in_attempts import Attempt
from jackpot_service.auth.tokens import LEEWAY_S, BadToken, Tokens
from jackpot_service.config.settings import Config
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.records.keys import Subject

ANSWERED_AT: Final = "/sign-in/account/answer"
"""Where the issuer sends a browser back to: the redirect address that its client there is to have."""

MOST_EXCHANGES: Final = 4
"""Codes that a process exchanges at a time: the others are answered at once, and no more threads wait."""

LONGEST_CODE: Final = 2048

log = structlog.get_logger()


class CodeRefused(Unauthenticated, code="unauthenticated"):
    """The issuer does not take the code: it was used before, or is over."""


class ClientRefused(Exception):
    """The issuer does not take this service as the client that it is configured to be: somebody has to mend that."""


class NotShownAgain(Unauthenticated, code="unauthenticated"):
    """The issuer did not ask the person again who they are, or does not say when it did."""


@dataclass(frozen=True, slots=True)
class CompanyAccount:
    """The person that an ID token shows, and when they showed the issuer who they are; None if it does not say."""

    subject: Subject
    authenticated_at: datetime | None


@dataclass(frozen=True, slots=True)
class CompanyAccounts:
    """The company accounts of an issuer, at which this service is a client. Shared by the threads of a process."""

    discovery: Discovery
    tokens: Tokens
    client_id: str
    client_secret: str = field(repr=False)
    public_url: str
    _exchanging: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(MOST_EXCHANGES))

    @classmethod
    def configured(
        cls, config: Config, tokens: Tokens | None, *, clock: Callable[[], datetime]
    ) -> "CompanyAccounts | None":
        """Those of a configuration; None where people have keys only. `tokens` reads those of the same issuer."""
        if tokens is None or not (config.oidc_client_id and config.oidc_client_secret and config.public_url):
            return None
        issuer = tokens.issuer
        of_client = Tokens(
            issuer,
            audience=config.oidc_client_id,
            authorized_parties=(config.oidc_client_id,),
            algorithms=config.oidc_algorithms,
            clock=clock,
        )
        discovery = Discovery(issuer.issuer, monotonic=issuer.monotonic)
        return cls(discovery, of_client, config.oidc_client_id, config.oidc_client_secret, config.public_url)

    @property
    def redirect_address(self) -> str:
        """Where the issuer sends browsers back to."""
        return self.public_url + ANSWERED_AT

    def address(self, attempt: Attempt) -> str:
        """Return where a person signs in; a proof has them show who they are anew. Raises: IssuerUnavailable."""
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_address,
            "scope": "openid",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
            **({"prompt": "login", "max_age": "0"} if attempt.is_proof else {}),
        }
        return _with_query(self.discovery.endpoints().authorization, query)

    def end_address(self) -> str | None:
        """Return where people sign out at the issuer; None if it has no such page. Raises: IssuerUnavailable."""
        end_session = self.discovery.endpoints().end_session
        return None if end_session is None else _with_query(end_session, {"client_id": self.client_id})

    def is_own_answer(self, named: str | None) -> bool:
        """
        Whether an answer that names an issuer, or none, is of this one. Raises: IssuerUnavailable.

        Source: RFC 9207, 2.4.
        """
        if named is not None:
            return named == self.discovery.issuer
        return not self.discovery.endpoints().is_named_in_answers

    def account(self, code: str, attempt: Attempt) -> CompanyAccount:
        """
        Exchange the code of an attempt, once, for the account that it shows.

        Raises: CodeRefused; BadToken; NotShownAgain; ClientRefused; IssuerUnavailable.
        """
        if not 0 < len(code) <= LONGEST_CODE:
            message = "This is no code."
            raise CodeRefused(message)
        claims = self.tokens.claims(self._id_token(code, attempt))
        nonce = claims.get("nonce")
        if not (isinstance(nonce, str) and nonce.isascii() and hmac.compare_digest(nonce, attempt.nonce)):
            message = "This token is of another sign-in."
            raise BadToken(message)
        shown_at = _instant(claims.get("auth_time"))
        leeway = timedelta(seconds=LEEWAY_S)
        if attempt.is_proof and (shown_at is None or shown_at < attempt.began_at - leeway):
            message = "The issuer did not have you show again who you are."
            raise NotShownAgain(message)
        return CompanyAccount(Subject(self.discovery.issuer, str(claims["sub"])), shown_at)

    def _id_token(self, code: str, attempt: Attempt) -> str:
        """Raises: CodeRefused; ClientRefused; IssuerUnavailable."""
        endpoints = self.discovery.endpoints()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_address,
            "code_verifier": attempt.verifier,
        }
        auth = None
        if endpoints.takes_basic:
            auth = httpx.BasicAuth(quote_plus(self.client_id), quote_plus(self.client_secret))
        else:
            form |= {"client_id": self.client_id, "client_secret": self.client_secret}
        if not self._exchanging.acquire(blocking=False):
            message = "Too many people sign in at this moment."
            raise IssuerUnavailable(message)
        try:
            with issuer_client() as client:
                status, document = answer_to(client, "POST", endpoints.token, form=form, auth=auth)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise unavailable(self.discovery.issuer, error) from error
        finally:
            self._exchanging.release()
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            message = f"its token endpoint answers with status {status}"
            raise unavailable(self.discovery.issuer, ValueError(message))
        if status != httpx.codes.OK:
            raise self._refusal(status, document.get("error"))
        id_token = document.get("id_token")
        if not isinstance(id_token, str):
            message = "The issuer answers without an ID token."
            raise BadToken(message)
        return id_token

    def _refusal(self, status: int, error: object) -> CodeRefused | ClientRefused:
        if error == "invalid_grant":
            message = "The issuer does not take this code, or takes it no more."
            return CodeRefused(message)
        log.warning("issuer-refuses-client", issuer=self.discovery.issuer, status=status, error=str(error)[:40])
        message = "The issuer does not take this service as its client."
        return ClientRefused(message)


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _instant(claimed: object) -> datetime | None:
    """Read a time of a token; None if it is none."""
    if not isinstance(claimed, int) or isinstance(claimed, bool) or not 0 <= claimed < 1 << 36:
        return None
    return datetime.fromtimestamp(claimed, UTC)
