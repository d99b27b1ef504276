"""
Where a reader of events stands: a seq for each stripe of each book, as a short text that callers keep.

The text is base64url of a version, of the positions, and of a checksum over both. The checksum is no secret: what a key
sees is asked of the key on every page, so that a cursor made by hand opens nothing. It finds what was cut or mistyped.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.ledger.stripes import MOST_STRIPES

VERSION: Final = 1

LONGEST: Final = 60_000
"""Characters: what a request line holds, and far more than a hundred jackpots of sixteen stripes need."""

_CHECKSUM: Final = 8
_LONGEST_NUMBER: Final = 9
"""Bytes of a number below 2**63, seven bits in each."""

_TEXT: Final = re.compile(r"[A-Za-z0-9_-]+")

Positions = Mapping[str, tuple[int, ...]]
"""For each book the seqs of its stripes, by their numbers; a book or stripe that is not there is at 0."""


class Begun(NamedTuple):
    """An entry of which a page held a part: the next one of its stripe, up to the event of this number."""

    book: str
    stripe_no: int
    number: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """After every entry up to these positions; perhaps also after the first events of the next one on a stripe."""

    positions: Positions = field(default_factory=dict)
    begun: Begun | None = None

    def seq(self, book: str, stripe_no: int) -> int:
        """Return the seq up to which a stripe was read; 0 for one that is new."""
        return seq_in(self.positions, book, stripe_no)


BEGINNING: Final = Cursor()
"""Before the first event."""


def seq_in(positions: Positions, book: str, stripe_no: int) -> int:
    """The seq of a stripe in some positions; 0 for a stripe that they do not reach."""
    seqs = positions.get(book, ())
    return seqs[stripe_no] if stripe_no < len(seqs) else 0


def encode(cursor: Cursor) -> str:
    """Write a cursor. The same cursor is always written alike."""
    content = bytes([VERSION]) + b"".join(_content(cursor))
    return base64.urlsafe_b64encode(content + _checksum(content)).rstrip(b"=").decode()


def _content(cursor: Cursor) -> Iterator[bytes]:
    begun = cursor.begun
    yield _number(0 if begun is None else begun.number)
    if begun is not None:
        yield _name(begun.book) + _number(begun.stripe_no)
    for book, seqs in sorted(cursor.positions.items()):
        count = max((number for number, seq in enumerate(seqs, 1) if seq), default=0)
        if count:
            yield _name(book) + _number(count) + b"".join(map(_number, seqs[:count]))


def decode(text: str) -> Cursor:
    """Read a cursor. Raises: ValueError, which says why, for anything that `encode` did not write."""
    if len(text) > LONGEST:
        message = f"is longer than {LONGEST} characters"
        raise ValueError(message)
    content = _checked(text)
    try:
        cursor = _read(content)
    except IndexError:
        cursor = None
    if cursor is None or encode(cursor) != text:
        raise ValueError(_NO_CURSOR)
    return cursor


_NO_CURSOR: Final = "must be the `next` of a page of events, unchanged; `now`; or left out, for the very beginning"


def _checked(text: str) -> bytes:
    """Raises: ValueError."""
    if not _TEXT.fullmatch(text):
        raise ValueError(_NO_CURSOR)
    try:
        whole = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise ValueError(_NO_CURSOR) from None
    content, checksum = whole[:-_CHECKSUM], whole[-_CHECKSUM:]
    if not content or checksum != _checksum(content):
        raise ValueError(_NO_CURSOR)
    if content[0] != VERSION:
        message = f"is a cursor of version {content[0]}; this service reads version {VERSION}"
        raise ValueError(message)
    return content


def _read(content: bytes) -> Cursor | None:
    """Read what has the right checksum, and could still be made by hand. Raises: IndexError where it ends too early."""
    reader = _Reader(content, at=1)
    number = reader.number()
    begun = Begun(reader.name(), reader.number(), number) if number else None
    positions: dict[str, tuple[int, ...]] = {}
    while reader.at < len(content):
        book, count = reader.name(), reader.number()
        if count > MOST_STRIPES:
            return None
        positions[book] = tuple(reader.number() for _ in range(count))
    names = {*positions, *([] if begun is None else [begun.book])}
    return Cursor(positions, begun) if all(map(_is_book, names)) else None


def _is_book(name: str) -> bool:
    return name == REFERENCE_BOOK or IDENTIFIER.fullmatch(name) is not None


@dataclass(slots=True)
class _Reader:
    content: bytes
    at: int

    def number(self) -> int:
        number = 0
        for place in range(_LONGEST_NUMBER):
            byte = self.content[self.at]
            self.at += 1
            number |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:  # noqa: PLR2004  the bit that says that there is more
                return number
        raise IndexError

    def name(self) -> str:
        length = self.content[self.at]
        self.at += 1 + length
        if self.at > len(self.content):
            raise IndexError
        return self.content[self.at - length : self.at].decode("latin-1")


def _number(value: int) -> bytes:
    """Write a number in groups of seven bits, the lowest first: small ones, as most are, in few bytes."""
    written = bytearray()
    while value > 0x7F:  # noqa: PLR2004  seven bits
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _name(book: str) -> bytes:
    return bytes([len(book)]) + book.encode("ascii")


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(b"jackpot events " + content).digest()[:_CHECKSUM]
