"""An authenticator of software: it makes passkeys and signs as browsers have it done, or wrongly on purpose."""

import hashlib
import json
import secrets
import struct
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from jackpot_service.domain.facts import base64url
from jackpot_service.passkeys import Assertion, NewCredential, bytes_of

ORIGIN: Final = "http://localhost:8000"

USER_PRESENT: Final = 0x01
USER_VERIFIED: Final = 0x04
ATTESTED: Final = 0x40
THERE: Final = USER_PRESENT | USER_VERIFIED


@dataclass
class Authenticator:
    """One key pair and its counter; who holds it was there and was recognised, unless a test says otherwise."""

    origin: str = ORIGIN
    rp_id: str = "localhost"
    flags: int = THERE
    counter: int = 0
    counts: bool = True
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: dict[str, Any], **client: Any) -> NewCredential:
        """Answer `navigator.credentials.create`."""
        data = self._data(self.flags | ATTESTED) + self._attested()
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return NewCredential(self.credential_id, self._client("create", options, client), attestation)

    def sign(self, options: dict[str, Any], **client: Any) -> Assertion:
        """Answer `navigator.credentials.get`."""
        self.counter += self.counts
        data, client_data = self._data(self.flags), self._client("get", options, client)
        return Assertion(self.credential_id, data, client_data, self.signature(data, client_data))

    def signature(self, data: bytes, client_data: bytes) -> bytes:
        """Sign what it states and what the browser states."""
        return self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))

    @property
    def public_key(self) -> bytes:
        """The public key as COSE has it."""
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def _attested(self) -> bytes:
        return bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id + self.public_key

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + struct.pack(">I", self.counter)

    def _client(self, what: str, options: dict[str, Any], more: dict[str, Any]) -> bytes:
        stated = {"type": f"webauthn.{what}", "challenge": options["challenge"], "origin": self.origin}
        return json.dumps({**stated, "crossOrigin": False, **more}).encode()


def body_of_assertion(assertion: Assertion) -> dict[str, Any]:
    """Write an assertion as a browser's `toJSON` does."""
    return {
        "id": base64url(assertion.credential_id),
        "rawId": base64url(assertion.credential_id),
        "type": "public-key",
        "response": {
            "authenticatorData": base64url(assertion.authenticator_data),
            "clientDataJSON": base64url(assertion.client_data),
            "signature": base64url(assertion.signature),
        },
    }


def body_of_credential(new: NewCredential) -> dict[str, Any]:
    """Write a new credential as a browser's `toJSON` does."""
    return {
        "id": base64url(new.credential_id),
        "rawId": base64url(new.credential_id),
        "type": "public-key",
        "response": {
            "clientDataJSON": base64url(new.client_data),
            "attestationObject": base64url(new.attestation_object),
        },
    }


def challenge_in(options: dict[str, Any]) -> bytes:
    """Read the challenge of options."""
    return bytes_of(options["challenge"])
