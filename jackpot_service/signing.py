"""Ed25519 keys in PEM files: made, read, and used to sign and to verify signatures."""

import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm)
"""The errors of the library for what is no key, is encrypted, or is of a kind that it does not know."""


class BadKey(ValueError):
    """It is no Ed25519 key in PEM, or the other half of one."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a key, which verifies what the other half signed."""

    key: Ed25519PublicKey

    @property
    def key_id(self) -> str:
        """The SHA-256 of its 32 bytes, in hexadecimal."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def raw(self) -> bytes:
        """Its 32 bytes."""
        return self.key.public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def pem(self) -> bytes:
        """As a file holds it; for everybody to see."""
        return self.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def signed(self, content: bytes, signature: bytes) -> bool:
        """Whether the other half signed exactly this."""
        try:
            self.key.verify(signature, content)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """Signs; it is nobody's but its owner's."""

    _key: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        """Its other half."""
        return PublicKey(self._key.public_key())

    @property
    def secret_pem(self) -> bytes:
        """As its owner's file holds it."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, content: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(content)

    def __repr__(self) -> str:
        return f"SigningKey({self.public.key_id})"


def new_key() -> SigningKey:
    """Make a key."""
    return SigningKey(Ed25519PrivateKey.generate())


def public_key_of(raw: bytes) -> PublicKey:
    """Make a public key of its 32 bytes."""
    return PublicKey(Ed25519PublicKey.from_public_bytes(raw))


def signing_key(pem: bytes) -> SigningKey:
    """Read a signing key. Raises: BadKey."""
    try:
        key = load_pem_private_key(pem, password=None)
    except _UNREADABLE:
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        message = "it holds no Ed25519 private key in PEM, or one under a password"
        raise BadKey(message)
    return SigningKey(key)


def public_key(pem: bytes) -> PublicKey:
    """Read a public key. Raises: BadKey."""
    try:
        key = load_pem_public_key(pem)
    except _UNREADABLE:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        message = "it holds no Ed25519 public key in PEM"
        raise BadKey(message)
    return PublicKey(key)
