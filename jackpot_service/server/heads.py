"""The head of a request as it arrives, and what is wrong with one that httptools lets pass."""

import re
from dataclasses import dataclass, field
from typing import Final

from jackpot_service.server import refusals
from jackpot_service.server.refusals import Refusal

LONGEST_HEAD: Final = 128 * 1024
"""Bytes of a request that are not its body: line, fields, what frames a body in chunks, and trailers."""

LONGEST_TARGET: Final = 65_535
"""Bytes: what httptools can take apart, and more than the longest cursor of events."""

MOST_FIELDS: Final = 100

_FRAMES_OF_A_FIELD: Final = len(": \r\n")
_HOST: Final = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
_BEGINNING: Final = re.compile(rb"[\r\n]*[A-Za-z0-9!#$%&'*+.^_`|~-]+( |\Z)")


def begins_with_method(data: bytes) -> bool:
    """Return whether data begins as a request does, or as the rest of its method, whatever method that is."""
    return _BEGINNING.match(data) is not None


@dataclass(slots=True)
class Head:
    """What a request says before its body; `method` and `version` are known when it is complete."""

    method: bytes = b""
    version: str = ""
    target: bytes = b""
    fields: list[tuple[bytes, bytes]] = field(default_factory=list)

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of a field; `name` is in small letters."""
        length = len(name)
        return [value for other, value in self.fields if len(other) == length and other.lower() == name]

    def refusal(self, *, most_body_bytes: int) -> Refusal | None:
        """Return why the request is refused, if it is."""
        return self._refusal_of_line() or self._refusal_of_fields(most_body_bytes)

    def without_upgrade(self) -> bytes:
        """Write the head as if it did not ask for another protocol, which a server may ignore."""
        fields = b"".join(b"%b: %b\r\n" % one for one in self.fields if one[0].lower() != b"upgrade")
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), fields)

    def _refusal_of_line(self) -> Refusal | None:
        if self.version not in {"1.0", "1.1"}:
            return refusals.WRONG_VERSION
        if len(self.target) > LONGEST_TARGET:
            return refusals.TARGET_TOO_LONG
        if self.method == b"CONNECT":
            return refusals.UNKNOWN_METHOD  # It names no path, of which could be said which methods it takes.
        if b"#" in self.target:
            return refusals.WRONG_TARGET
        return None

    def _refusal_of_fields(self, most_body_bytes: int) -> Refusal | None:
        if len(self.fields) > MOST_FIELDS or self._bytes_of_fields() > LONGEST_HEAD - len(self.target):
            return refusals.HEAD_TOO_LARGE
        hosts = self.values(b"host")
        if len(hosts) > 1 or (self.version == "1.1" and not hosts) or not all(map(_HOST.fullmatch, hosts)):
            return refusals.WRONG_HOST
        # httptools takes no second length or coding, no length together with a coding, and of a length digits only.
        codings = self.values(b"transfer-encoding")
        if codings and (self.version == "1.0" or codings[0].lower() != b"chunked"):
            return refusals.WRONG_CODING
        lengths = self.values(b"content-length")
        if lengths and int(lengths[0]) > most_body_bytes:
            return refusals.BODY_TOO_LARGE
        return None

    def _bytes_of_fields(self) -> int:
        return sum(len(name) + len(value) + _FRAMES_OF_A_FIELD for name, value in self.fields)
