"""The issuer of tokens: where it publishes the keys that it signs with, fetched seldom and believed for a while."""

import base64
import threading
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import structlog
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import Key, KeySet, import_key

from jackpot_service.auth.issuer_http import configuration_of, document_at, issuer_client
from jackpot_service.domain.errors import Unavailable

KEPT_S: Final = 300
"""How long the issuer's keys are believed: one that it withdraws signs nothing for us after that."""

PAUSE_S: Final = 10
"""How long the issuer is left alone after it was asked, whatever tokens come meanwhile."""

LEAST_RSA_BITS: Final = 2048
"""A shorter key could be factored by somebody who then signs any token."""

log = structlog.get_logger()


class IssuerUnavailable(Unavailable, code="issuer-unavailable", title="Tokens cannot be checked now"):
    """The issuer's keys are not at hand, so no token can be checked now. Keys of our own go on working."""


class UnknownSigningKey(Exception):
    """The issuer publishes no key of that name for that algorithm."""


class Issuer:
    """An issuer's published keys, shared by the threads of a process; one of them fetches at a time."""

    def __init__(self, issuer: str, *, jwks_url: str | None, monotonic: Callable[[], float]) -> None:
        self.issuer = issuer
        self._jwks_url = jwks_url
        self.monotonic = monotonic
        self._keys = KeySet([])
        self._fetched_at = float("-inf")
        self._asked_at = float("-inf")
        self._asking = threading.Lock()

    def key(self, key_id: str | None, algorithm: str) -> Key:
        """
        Find a signing key; one that is not known may be new, so the issuer is asked again unless it just was.

        Raises: UnknownSigningKey; IssuerUnavailable.
        """
        if self.monotonic() - self._fetched_at >= KEPT_S:
            self._refresh()
        try:
            return self._find(key_id, algorithm)
        except UnknownSigningKey:
            if self._was_just_asked():
                raise
        self._refresh()
        return self._find(key_id, algorithm)

    def _find(self, key_id: str | None, algorithm: str) -> Key:
        try:
            return self._keys.get_by_kid(key_id, {"alg": algorithm, "use": "sig"})
        except InvalidKeyIdError:
            raise UnknownSigningKey(key_id) from None

    def _was_just_asked(self) -> bool:
        return self.monotonic() - self._asked_at < PAUSE_S

    def _refresh(self) -> None:
        """Raises: IssuerUnavailable, at once and not after a wait if the issuer is being asked or just was."""
        if not self._asking.acquire(blocking=False):
            message = "The issuer of tokens is being asked for its keys."
            raise IssuerUnavailable(message)
        try:
            if self._was_just_asked():
                if self._fetched_at == self._asked_at:  # By another thread, since this one looked.
                    return
                message = "The issuer of tokens did not answer a moment ago."
                raise IssuerUnavailable(message)
            self._asked_at = self.monotonic()
            self._keys = self._fetched()
            self._fetched_at = self._asked_at
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            log.warning("issuer-unavailable", issuer=self.issuer, detail=f"{type(error).__name__}: {error}")
            message = "The issuer of tokens does not answer with its keys."
            raise IssuerUnavailable(message) from error
        finally:
            self._asking.release()

    def _fetched(self) -> KeySet:
        """Raises: httpx.HTTPError, httpx.InvalidURL, ValueError."""
        with issuer_client() as client:
            return _key_set(document_at(client, self._jwks_url or self._published_at(client)))

    def _published_at(self, client: httpx.Client) -> str:
        """Discover where the keys are. Raises: as `_fetched`; ValueError unless the issuer speaks of itself."""
        url = configuration_of(client, self.issuer).get("jwks_uri")
        if not isinstance(url, str):
            message = "its configuration names no jwks_uri"
            raise ValueError(message)  # noqa: TRY004  what came is wrong, not what was called
        if urlsplit(url).scheme != urlsplit(self.issuer).scheme:
            message = "its jwks_uri has another scheme than the issuer"
            raise ValueError(message)
        return url


def _key_set(document: dict[str, Any]) -> KeySet:
    """Take the keys that can be used; an issuer may publish others. Raises: ValueError if there are none."""
    published = document.get("keys")
    keys = (
        [key for published_key in published if (key := _key(published_key)) is not None]
        if isinstance(published, list)
        else []
    )
    if not keys:
        message = "it publishes no keys that can be used"
        raise ValueError(message)
    return KeySet(keys)


def _key(published: object) -> Key | None:
    if not isinstance(published, dict) or published.get("kty") not in ("RSA", "EC", "OKP"):
        return None
    try:
        if published["kty"] == "RSA" and _bits(published["n"]) < LEAST_RSA_BITS:
            log.warning("issuer-key-too-short", kid=str(published.get("kid")), least_bits=LEAST_RSA_BITS)
            return None
        return import_key(published)
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def _bits(number: str) -> int:
    """The length of a number as a JWK writes it. Raises: ValueError, TypeError."""
    return int.from_bytes(base64.urlsafe_b64decode(number + "=" * (-len(number) % 4))).bit_length()
