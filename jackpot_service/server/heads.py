"""The head of a request as it arrives, and what is wrong with one that httptools lets pass."""

import re
from dataclasses import dataclass
from typing import Final

from jackpot_service.server import refusals
from jackpot_service.server.refusals import Refusal

LONGEST_HEAD: Final = 128 * 1024
"""Bytes of a request that are not its body: line, fields, what frames a body in chunks, and trailers."""

LONGEST_TARGET: Final = 65_535
"""Bytes: what httptools can take apart, and more than the longest cursor of events."""

MOST_FIELDS: Final = 100

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_FRAMES_OF_A_FIELD: Final = len(": \r\n")
_HOST: Final = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
_BEGINNING: Final = re.compile(rb"[\r\n]*[A-Za-z0-9!#$%&'*+.^_`|~-]+( |\Z)")


def begins_with_method(data: bytes) -> bool:
    """Return whether data begins as a request does, or as the rest of its method, whatever method that is."""
    return _BEGINNING.match(data) is not None


@dataclass(slots=True)
class Head:
    """
    What a request says before its body. Names of fields are in small letters.

    `method`, `version` and `target` are known when it is complete; the fields come one after another.
    """

    fields: list[tuple[bytes, bytes]]
    method: bytes = b""
    version: str = ""
    target: bytes = b""

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of a field; `name` is in small letters."""
        return [value for other, value in self.fields if other == name]

    def refusal(self, *, most_body_bytes: int) -> Refusal | None:
        """Return why the request is refused, if it is."""
        return self._refusal_of_line() or self._refusal_of_fields(most_body_bytes)

    def without_upgrade(self) -> bytes:
        """Write the head as if it did not ask for another protocol, which a server may ignore."""
        fields = b"".join(b"%b: %b\r\n" % one for one in self.fields if one[0] != b"upgrade")
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), fields)

    def _refusal_of_line(self) -> Refusal | None:
        if self.version not in _VERSIONS:
            return refusals.WRONG_VERSION
        if len(self.target) > LONGEST_TARGET:
            return refusals.TARGET_TOO_LONG
        if self.method == b"CONNECT":
            return refusals.UNKNOWN_METHOD  # It names no path, of which could be said which methods it takes.
        if b"#" in self.target:
            return refusals.WRONG_TARGET
        return None

    def _refusal_of_fields(self, most_body_bytes: int) -> Refusal | None:
        size = len(self.target)
        hosts: list[bytes] = []
        refusal = None
        for name, value in self.fields:  # Once over them: every request pays for it.
            size += len(name) + len(value) + _FRAMES_OF_A_FIELD
            if name == b"host":
                hosts.append(value)
            # httptools takes no second length or coding, no length together with a coding, of a length digits only.
            elif name == b"transfer-encoding" and (self.version == "1.0" or value.lower() != b"chunked"):
                refusal = refusals.WRONG_CODING
            elif name == b"content-length" and int(value) > most_body_bytes:
                refusal = refusals.BODY_TOO_LARGE
        if size > LONGEST_HEAD:
            return refusals.HEAD_TOO_LARGE
        if len(hosts) > 1 or (self.version == "1.1" and not hosts) or not all(map(_HOST.fullmatch, hosts)):
            return refusals.WRONG_HOST
        return refusal
