"""
Attempts to sign in by a company account: what the issuer gets of each, bound to the browser that began it.

State, nonce and the verifier of PKCE follow from the secret of the browser's cookie and from the attempt's id, so
nothing is stored. An answer that comes to another browser, or after the session has changed, fits no attempt.
"""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from jackpot_service.domain.errors import Unauthenticated

LONGEST: Final = timedelta(minutes=10)
"""After so long an attempt is over: people type passwords, and look for their phones."""

_STATE: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,10})\.(new|again)\.([A-Za-z0-9_-]{43})")


class UnknownAttempt(Unauthenticated, code="unauthenticated"):
    """The state is no attempt of this browser, or of one that is over."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt; with `is_proof` somebody who has signed in shows again who they are."""

    attempt_id: str
    began_at: datetime
    is_proof: bool
    secret: str

    @classmethod
    def begin(cls, secret: str, *, at: datetime, is_proof: bool) -> "Attempt":
        """Begin one in the browser that has a secret."""
        return cls(secrets.token_hex(16), at.astimezone(UTC).replace(microsecond=0), is_proof, secret)

    @classmethod
    def find(cls, state: str, secret: str, *, at: datetime) -> "Attempt":
        """Return the attempt of a state. Raises: UnknownAttempt."""
        message = "This sign-in was begun elsewhere, or it is over."
        match = _STATE.fullmatch(state)
        if match is None:
            raise UnknownAttempt(message)
        attempt_id, began, purpose, _ = match.groups()
        attempt = cls(attempt_id, datetime.fromtimestamp(int(began), UTC), purpose == "again", secret)
        if not hmac.compare_digest(attempt.state, state) or not timedelta(0) <= at - attempt.began_at <= LONGEST:
            raise UnknownAttempt(message)
        return attempt

    @property
    def state(self) -> str:
        """The state that the issuer sends back: it says nothing that is secret, and nobody else can write it."""
        purpose = "again" if self.is_proof else "new"
        plain = f"{self.attempt_id}.{int(self.began_at.timestamp())}.{purpose}"
        return f"{plain}.{self._derived(f'state {plain}')}"

    @property
    def nonce(self) -> str:
        """The number that the ID token has to repeat."""
        return self._derived(f"nonce {self.attempt_id}")

    @property
    def verifier(self) -> str:
        """The secret of PKCE, which only the exchange of the code shows."""
        return self._derived(f"verifier {self.attempt_id}")

    @property
    def challenge(self) -> str:
        """The hash of the verifier. Source: RFC 7636, 4.2, S256."""
        return _base64url(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        return _base64url(hmac.new(self.secret.encode(), purpose.encode(), hashlib.sha256).digest())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
