"""
A seal: where every stripe of every book stood at one instant, signed, and chained to the seal before it.

A seal is one flat JSON object. Its canonical bytes are that object with its keys sorted, without white space, in ASCII.
The signature is over the canonical bytes of the object without its `signature`. The next seal names the SHA-256 of the
canonical bytes of all of it. A file of it has exactly these bytes: so `sha256sum` shows what the next names.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.shapes import IDENTIFIER, INSTANT, SHA256, SIGNATURE

FORMAT: Final = "jackpot-seal-1"

MOST_BYTES: Final = 64 << 20
"""No seal is larger: so many stripes no ledger has."""

_LARGEST_SEQ: Final = 2**63 - 1
_LARGEST_STRIPE_NO: Final = 2**31 - 1


class BadSeal(Refused, code="seal-unreadable", title="Invalid seal"):
    """It is no seal, or one of another version."""


@dataclass(frozen=True, slots=True)
class SealedStripe:
    """Where a stripe stood: the seq of its last entry, 0 if it had none, and the head after it."""

    book: str
    stripe_no: int
    seq: int
    head: bytes

    @property
    def place(self) -> str:
        """Which stripe it is, in words."""
        return f"stripe {self.stripe_no}"


@dataclass(frozen=True, slots=True)
class SealLink:
    """The seal before: its number, and the SHA-256 of its canonical bytes."""

    number: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Seal:
    """
    Where all stripes stood at one instant. The first seal, number 1, has none before it.

    `public_key_id` names the key that signed it: the SHA-256 of the public key's 32 bytes.
    """

    number: int
    sealed_at: str
    service_version: str
    previous: SealLink | None
    stripes: tuple[SealedStripe, ...]
    public_key_id: str
    signature: bytes = b""

    @property
    def signed_bytes(self) -> bytes:
        """The bytes that the signature is over."""
        return _canonical({name: value for name, value in self._document().items() if name != "signature"})

    @property
    def canonical_bytes(self) -> bytes:
        """The whole of it, as it is kept, written to files, and named by the next."""
        return _canonical(self._document())

    @property
    def link(self) -> SealLink:
        """The link to this seal in the next one."""
        return SealLink(self.number, sha256(self.canonical_bytes))

    def _document(self) -> dict[str, Any]:
        previous = self.previous
        return {
            "format": FORMAT,
            "number": self.number,
            "sealed_at": self.sealed_at,
            "service_version": self.service_version,
            "previous": None if previous is None else {"number": previous.number, "sha256": previous.sha256},
            "stripes": [[stripe.book, stripe.stripe_no, stripe.seq, stripe.head.hex()] for stripe in self.stripes],
            "public_key_id": self.public_key_id,
            "signature": self.signature.hex(),
        }


def sealed_at(moment: datetime) -> str:
    """Write when a seal was made, as it stands there."""
    return str(instant(moment))


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def facts_of(*, number: int, digest: str) -> Facts:
    """The facts of the act that sealed the books."""
    return {"number": number, "sha256": digest}


def read(content: bytes) -> Seal:
    """Read a seal as strictly as it was written, signed or not. Raises: BadSeal."""
    try:
        document = json.loads(content.decode("ascii"), parse_constant=_refuse, parse_float=_refuse)
    except (ValueError, RecursionError):
        message = "It is not JSON in ASCII."
        raise BadSeal(message) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        message = f"It is no seal of the format {FORMAT}."
        raise BadSeal(message)
    try:
        seal = _seal(document)
    except (KeyError, TypeError, ValueError):
        message = f"It does not say what a seal of the format {FORMAT} says."
        raise BadSeal(message) from None
    if seal._document() != document:  # noqa: SLF001  the other half of reading it
        message = f"It says what no seal of the format {FORMAT} says."
        raise BadSeal(message)
    return seal


def _canonical(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")


def _refuse(literal: str) -> None:
    raise ValueError(literal)


def _seal(document: Mapping[str, Any]) -> Seal:
    number, previous = _whole(document["number"], least=1, most=_LARGEST_SEQ), document["previous"]
    link = None if previous is None else SealLink(number - 1, _matching(SHA256, previous["sha256"]))
    if (link is None) is not (number == 1):
        raise ValueError(number)
    stripes = tuple(_stripe(*stripe) for stripe in document["stripes"])
    if len({(stripe.book, stripe.stripe_no) for stripe in stripes}) < len(stripes):
        raise ValueError(stripes)
    return Seal(
        number=number,
        sealed_at=_matching(INSTANT, document["sealed_at"]),
        service_version=str(document["service_version"]),
        previous=link,
        stripes=stripes,
        public_key_id=_matching(SHA256, document["public_key_id"]),
        signature=bytes.fromhex(_matching(SIGNATURE, document["signature"])),
    )


def _stripe(book: object, stripe_no: object, seq: object, head: object) -> SealedStripe:
    return SealedStripe(
        _matching(IDENTIFIER, book),
        _whole(stripe_no, least=0, most=_LARGEST_STRIPE_NO),
        _whole(seq, least=0, most=_LARGEST_SEQ),
        bytes.fromhex(_matching(SHA256, head)),
    )


def _whole(value: object, *, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(value)
    return value


def _matching(shape: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not shape.fullmatch(value):
        raise ValueError(value)
    return value
