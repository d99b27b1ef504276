"""
Bearer tokens of users, by OpenID Connect: their signature and their claims are checked, and give a subject.

A token's algorithm has to be one of those allowed, never `none` and never one whose key is a shared secret. The
issuer's published key has to fit the signature. Issuer, audience, authorized party, expiry and not-before have to be
right.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import GuestProtocol as Signed
from joserfc.jwk import Key
from joserfc.jws import JWSRegistry

from jackpot_service.auth.issuer import Issuer
from jackpot_service.config.settings import Config
from jackpot_service.domain.errors import LedgerError, Unauthenticated
from jackpot_service.domain.principals import is_subject

LEEWAY_S: Final = 30
"""How far the issuer's clock and ours may lie apart."""

LONGEST_TOKEN: Final = 8192


class BadToken(Unauthenticated, code="unauthenticated"):
    """A token that opens nothing. The answer does not state what exactly is wrong with it."""


class Tokens:
    """Reads tokens of one issuer for one audience."""

    def __init__(
        self,
        issuer: Issuer,
        *,
        audience: str,
        authorized_parties: tuple[str, ...],
        algorithms: tuple[str, ...],
        clock: Callable[[], datetime],
    ) -> None:
        self.issuer = issuer
        self._audience = audience
        self._authorized_parties = authorized_parties
        self._registry = JWSRegistry(algorithms=algorithms, strict_check_header=False)
        self._clock = clock

    def subject(self, token: str) -> str:
        """Return the subject of a token. Raises: BadToken; IssuerUnavailable if it cannot be checked now."""
        return str(self.claims(token)["sub"])

    def claims(self, token: str) -> Mapping[str, Any]:
        """Return what a token in force claims. Raises: BadToken; IssuerUnavailable if it cannot be checked now."""
        message = "This token is not in force."
        if len(token) > LONGEST_TOKEN:
            raise BadToken(message)
        try:
            claims = jwt.decode(token, self._signing_key, registry=self._registry).claims
            self._rules().validate(claims)
        except LedgerError:
            raise
        except Exception:  # noqa: BLE001  whatever a stranger's bytes make a library raise, they are no token
            raise BadToken(message) from None
        if not is_subject(claims["sub"]) or not self._is_authorized(claims):
            raise BadToken(message)
        return claims

    def _is_authorized(self, claims: Mapping[str, Any]) -> bool:
        """
        Whether one of our clients obtained the token. A token for several audiences must name the client (`azp`).

        Source: OpenID Connect Core 1.0, 3.1.3.7, steps 4 and 5.
        """
        if "azp" not in claims:
            return isinstance(claims["aud"], str) or len(claims["aud"]) == 1
        return claims["azp"] in self._authorized_parties

    def _signing_key(self, signed: Signed) -> Key:
        header = signed.headers()
        key_id = header.get("kid")
        return self.issuer.key(None if key_id is None else str(key_id), header["alg"])

    def _rules(self) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=LEEWAY_S,
            iss={"essential": True, "value": self.issuer.issuer},
            aud={"essential": True, "value": self._audience},
            sub={"essential": True},
            exp={"essential": True},
        )


def tokens_of(config: Config, *, clock: Callable[[], datetime], monotonic: Callable[[], float]) -> Tokens | None:
    """The reader of tokens that a configuration asks for; None where people have keys only."""
    if config.oidc_issuer is None or config.oidc_audience is None:
        return None
    issuer = Issuer(config.oidc_issuer, jwks_url=config.oidc_jwks_url, monotonic=monotonic)
    return Tokens(
        issuer,
        audience=config.oidc_audience,
        authorized_parties=config.oidc_authorized_parties or (config.oidc_audience,),
        algorithms=config.oidc_algorithms,
        clock=clock,
    )
