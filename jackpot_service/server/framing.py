"""
HTTP/1.1 as it arrives: the parser of requests, the head of one, and the server's own answers to what is none.

httptools parses. Here stands what it lets pass and the service refuses, such as a second `Host` field.
"""

import re
from array import array
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol

import orjson
from httptools import HttpParserError, HttpParserInvalidMethodError, HttpParserUpgrade, HttpRequestParser

from jackpot_service.api.asgi import REQUEST_ID, request_id
from jackpot_service.api.problem_catalogue import http
from jackpot_service.api.problem_catalogue.rows import Row
from jackpot_service.api.problems import MEDIA_TYPE

LONGEST_HEAD: Final = 128 * 1024
"""Bytes of a request that are not its body: line, fields, what frames a body in chunks, and trailers."""

LONGEST_TARGET: Final = 65_535
"""Bytes: what httptools can take apart, and more than the longest cursor of events."""

MOST_FIELDS: Final = 100

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_FRAMES_OF_A_FIELD: Final = len(": \r\n")
_HOST: Final = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
_BEGINNING: Final = re.compile(rb"[\r\n]*[A-Za-z0-9!#$%&'*+.^_`|~-]+( |\Z)")
_LONGEST_INSTANCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and its connection closed."""

    problem: Row
    detail: str


BAD_REQUEST: Final = Refusal(http.BAD_REQUEST, "This is no request of HTTP/1.1.")
WRONG_VERSION: Final = Refusal(http.BAD_REQUEST, "The service speaks HTTP/1.1 and HTTP/1.0.")
WRONG_TARGET: Final = Refusal(http.BAD_REQUEST, "A request names a path, without a fragment.")
UNKNOWN_METHOD: Final = Refusal(http.METHOD_UNKNOWN, "The service knows no such method.")
WRONG_HOST: Final = Refusal(http.BAD_REQUEST, "A request names one host, in one `Host` field.")
WRONG_CODING: Final = Refusal(http.BAD_REQUEST, "The only transfer coding is `chunked`.")
REQUEST_TIMEOUT: Final = Refusal(http.REQUEST_TIMEOUT, "The request did not arrive in time.")
BODY_TOO_LARGE: Final = Refusal(http.BODY_TOO_LARGE, "The body is larger than the service takes.")
TARGET_TOO_LONG: Final = Refusal(http.URI_TOO_LONG, "The path and the query are longer than the service takes.")
HEAD_TOO_LARGE: Final = Refusal(
    http.HEAD_TOO_LARGE, "The header fields, or the framing of the body, are larger than the service takes."
)


def answer(refusal: Refusal, *, path: bytes, named: str) -> bytes:
    """Write an answer as it is sent. `path` is the path of the request, `named` the id that the request gave itself."""
    problem, status = refusal.problem, HTTPStatus(refusal.problem.status)
    body = orjson.dumps(
        {
            "type": problem.type,
            "title": problem.title,
            "status": problem.status,
            "detail": refusal.detail,
            "instance": path[:_LONGEST_INSTANCE].decode("latin-1") or "/",
            "code": problem.code,
            "retryable": problem.retryable,
        }
    )
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {MEDIA_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"{REQUEST_ID}: {request_id(named)}\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


def begins_with_method(data: bytes) -> bool:
    """Return whether data begins as a request does, or as the rest of its method, whatever method that is."""
    return _BEGINNING.match(data) is not None


@dataclass(slots=True)
class Head:
    """
    The part of a request before its body. Names of fields are in small letters.

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
        fields = b"".join(b"%b: %b\r\n" % field_ for field_ in self.fields if field_[0] != b"upgrade")
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), fields)

    def _refusal_of_line(self) -> Refusal | None:
        if self.version not in _VERSIONS:
            return WRONG_VERSION
        if len(self.target) > LONGEST_TARGET:
            return TARGET_TOO_LONG
        if self.method == b"CONNECT":
            return UNKNOWN_METHOD  # It names no path, of which could be said which methods it takes.
        if b"#" in self.target:
            return WRONG_TARGET
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
                refusal = WRONG_CODING
            elif name == b"content-length" and int(value) > most_body_bytes:
                refusal = BODY_TOO_LARGE
        if size > LONGEST_HEAD:
            return HEAD_TOO_LARGE
        if len(hosts) > 1 or (self.version == "1.1" and not hosts) or not all(map(_HOST.fullmatch, hosts)):
            return WRONG_HOST
        return refusal


class Reader(Protocol):
    """A connection whose callbacks the parser calls; see httptools."""

    head: Head

    def refuse_method(self, data: bytes) -> None:
        """Refuse what came because the parser knows no such method."""

    def refuse(self, refusal: Refusal) -> None:
        """Answer that what comes is refused, and read no more."""


class Stopped(Exception):
    """Raised by a callback: the parser is to go no further."""


class Parser(HttpRequestParser):
    """A parser that never changes to another protocol, and raises nothing."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._reader = reader
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # It is read, and dropped.

    def feed_data(self, data: "bytes | bytearray | memoryview[int] | array[int]") -> None:
        """Parse what came."""
        rest = bytes(data)
        try:
            while rest:
                rest = self._rest_of(rest)
        except HttpParserInvalidMethodError:
            self._reader.refuse_method(rest)
        except HttpParserError:
            self._reader.refuse(BAD_REQUEST)

    def _rest_of(self, data: bytes) -> bytes:
        """Parse data up to a head that asks for another protocol, and that again as if it did not; return the rest."""
        try:
            super().feed_data(data)
        except HttpParserUpgrade as upgrade:
            (head_bytes,) = upgrade.args
            super().feed_data(self._reader.head.without_upgrade())
            return data[head_bytes:]
        return b""
