"""
WebAuthn: what a browser is asked for, and whether what an authenticator answers is good. The library reads all of it.

An answer is good if it is for this site and this challenge, and signed by the passkey. The person was there, and the
authenticator has recognised them. Any authenticator will do: attestations are not asked for, and those that come are
not believed.
"""

import hashlib
import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import webauthn
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from webauthn.helpers import (
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    parse_attestation_object,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.options_to_json_dict import options_to_json_dict
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticationCredential,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    RegistrationCredential,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import base64url
from jackpot_service.domain.passkeys import LONGEST_CREDENTIAL_ID, BadAssertion, BadRegistration, Passkey

SITE_NAME: Final = "Jackpot ledger"

TIME_FOR_IT_MS: Final = 120_000
"""How long a browser waits for its person."""

ATTESTED: Final = frozenset({AttestationFormat.NONE, AttestationFormat.PACKED})
"""Forms in which an authenticator presents a new key where none is asked for; others need certificates."""

_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")

_MALFORMED: Final = (
    WebAuthnException,
    InvalidSignature,
    UnsupportedAlgorithm,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""The errors of the library, and of those below it, for what no authenticator says."""


@dataclass(frozen=True, slots=True)
class Site:
    """
    The site for which passkeys sign: its domain, and the origin of its pages.

    Without an origin it is this machine: any port of `localhost`.
    """

    rp_id: str
    origin: str | None

    def has_origin(self, origin: object) -> bool:
        """Whether pages of an origin are of this site."""
        if self.origin is not None:
            return origin == self.origin
        return isinstance(origin, str) and is_origin_of(origin, self.rp_id)


LOCALHOST: Final = Site("localhost", None)


def site_at(public_url: str | None) -> Site:
    """Return the site at an address, as the settings hold it; without one, this machine."""
    return LOCALHOST if public_url is None else Site(urlsplit(public_url).hostname or "", public_url)


@dataclass(frozen=True, slots=True)
class Assertion:
    """The answer to a challenge: which credential was used, what authenticator and browser state, and the signature."""

    credential_id: bytes
    authenticator_data: bytes
    client_data: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class NewCredential:
    """The answer of an authenticator that has made a passkey."""

    credential_id: bytes
    client_data: bytes
    attestation_object: bytes


@dataclass(frozen=True, slots=True)
class Registered:
    """A credential as it is registered: its public key as COSE has it, and its authenticator's counter."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def creation_options(site: Site, person: str, challenge: bytes, *, known: Iterable[Passkey]) -> dict[str, Any]:
    """Return the options of `navigator.credentials.create`, as JSON, for another passkey than those that are known."""
    options = webauthn.generate_registration_options(
        rp_id=site.rp_id,
        rp_name=SITE_NAME,
        user_id=hashlib.sha256(f"jackpot {person}".encode()).digest(),
        user_name=person,
        challenge=challenge,
        timeout=TIME_FOR_IT_MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=_descriptors(known),
    )
    return options_to_json_dict(options)


def request_options(site: Site, challenge: bytes, *, known: Iterable[Passkey] = ()) -> dict[str, Any]:
    """Return the options of `navigator.credentials.get`, as JSON: one of these passkeys is to sign, or any."""
    options = webauthn.generate_authentication_options(
        rp_id=site.rp_id,
        challenge=challenge,
        timeout=TIME_FOR_IT_MS,
        allow_credentials=_descriptors(known),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def _descriptors(passkeys: Iterable[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(passkey.credential_id) for passkey in passkeys]


def registered(new: NewCredential, site: Site, challenge: bytes) -> Registered:
    """Check a new credential. Raises: BadRegistration."""
    with _refused_as(BadRegistration):
        if len(new.credential_id) > LONGEST_CREDENTIAL_ID:
            message = f"The credential's id is longer than {LONGEST_CREDENTIAL_ID} bytes."
            raise BadRegistration(message)
        origin = _origin_in(new.client_data, site)
        if parse_attestation_object(new.attestation_object).fmt not in ATTESTED:
            message = "The authenticator attests to itself in a form that nobody asked for."
            raise BadRegistration(message)
        verified = webauthn.verify_registration_response(
            credential=RegistrationCredential(
                base64url(new.credential_id),
                new.credential_id,
                AuthenticatorAttestationResponse(new.client_data, new.attestation_object),
            ),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=origin,
            require_user_verification=True,
        )
        if verified.credential_id != new.credential_id:
            message = "The authenticator states another credential than the browser."
            raise BadRegistration(message)
        # The library reads the key when it is first used: one that is none would lock its person out.
        decoded_public_key_to_cryptography(decode_credential_public_key(verified.credential_public_key))
        return Registered(verified.credential_id, verified.credential_public_key, verified.sign_count)


def require_signed(assertion: Assertion, passkey: Passkey, site: Site, challenge: bytes, *, sign_count: int) -> int:
    """
    Hold that a passkey has signed a challenge for a site, later than when its counter stood at `sign_count`.

    Returns the counter. Raises: BadAssertion.
    """
    with _refused_as(BadAssertion):
        verified = webauthn.verify_authentication_response(
            credential=AuthenticationCredential(
                base64url(passkey.credential_id),
                passkey.credential_id,
                AuthenticatorAssertionResponse(
                    assertion.client_data, assertion.authenticator_data, assertion.signature
                ),
            ),
            expected_challenge=challenge,
            expected_rp_id=passkey.rp_id,
            expected_origin=_origin_in(assertion.client_data, site),
            credential_public_key=passkey.public_key,
            credential_current_sign_count=sign_count,
            require_user_verification=True,
        )
        return verified.new_sign_count


def challenge_in(client_data: bytes) -> bytes:
    """Read the challenge that was answered. Raises: BadAssertion."""
    with _refused_as(BadAssertion):
        return bytes_of(_members(client_data)["challenge"])


def site_of(client_data: bytes, rp_id: str) -> Site:
    """
    Return the site of an answer, for who knows only the domain: any origin of it will do.

    Raises: BadAssertion if it is of another domain.
    """
    with _refused_as(BadAssertion):
        origin = _members(client_data)["origin"]
        if not is_origin_of(origin, rp_id):
            message = f"{origin!r:.100} is no page of {rp_id}"
            raise ValueError(message)
        return Site(rp_id, origin)


def is_origin_of(origin: str, rp_id: str) -> bool:
    """Whether an origin is one of a domain, or of a part of it: by HTTPS, or on this machine."""
    host = re.escape(rp_id)
    pattern = rf"https?://{host}" if rp_id == LOCALHOST.rp_id else rf"https://([a-z0-9-]+\.)*{host}"
    return re.fullmatch(rf"{pattern}(:[0-9]{{1,5}})?", origin) is not None


def bytes_of(text: object) -> bytes:
    """Read base64url without padding. Raises: ValueError for anything else."""
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        message = "is not base64url"
        raise ValueError(message)
    content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64url(content) != text:
        message = "is not base64url as it is written"
        raise ValueError(message)
    return content


def _members(client_data: bytes) -> Mapping[str, Any]:
    members = json.loads(client_data.decode())
    if not isinstance(members, dict):
        message = "the client data are no object"
        raise TypeError(message)
    return members


def _origin_in(client_data: bytes, site: Site) -> str:
    """Read the origin of the page that asked. Raises: ValueError unless it is of the site, and its own window."""
    members = _members(client_data)
    origin = members["origin"]
    if not site.has_origin(origin):
        message = f"It was asked for by a page of {origin!r:.100}, not of this site"
        raise ValueError(message)
    if members.get("crossOrigin"):
        message = "It was asked for from within a page of another site"
        raise ValueError(message)
    return str(origin)


@contextmanager
def _refused_as(refusal: type[Refused]) -> Iterator[None]:
    """Turn whatever is said of an answer that is not good into a refusal."""
    try:
        yield
    except _MALFORMED as error:
        stated = str(error).removesuffix(". See __cause__ for more info").rstrip(".")
        message = f"{stated or 'It cannot be read'}."
        raise refusal(message) from error
