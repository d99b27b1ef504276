"""
A request as the event loop looks at it: its head, and its body, which is read before others are kept waiting for it.

A client that sends half a body holds a connection and the bytes that came, and nothing else. How many bytes the callers
of a process may have in memory is bounded, and shared by casino and key as all places are.
"""

from collections.abc import Mapping
from typing import Final

from jackpot_service.api.asgi import Message, Receive, Scope
from jackpot_service.api.parsing import MEDIA_TYPES
from jackpot_service.api.places import Caller, Places
from jackpot_service.api.reading import WANTS_POSITION

ROOM: Final = 32 * 1024 * 1024
"""Bytes of bodies that are read, or looked at, in one process; up to three times as many while callers share anew."""

SMALL: Final = 16 * 1024
"""Bytes: a body that comes in one piece no longer than this is not counted; connections bound these."""

_LONGEST_LENGTH: Final = 9
"""Digits of a length that are read; one of more digits is longer than any body may be."""

LONGEST_BODY: Final = 256 * 1024
"""Bytes: a batch of a thousand bets and more. A longer body is read by a thread, so that it holds nobody up."""

_WANTS_POSITION: Final = WANTS_POSITION.lower().encode()

_ENCODINGS: Final = frozenset({b"content-encoding", b"transfer-encoding"})


class Fallback(Exception):
    """The fast path does not take this call: Flask answers it."""


class Gone(Exception):
    """The client went away before its request was whole."""


def length_of(header: bytes) -> int | None:
    """The length that a header states; None if it states none, or one that is longer than any."""
    return int(header) if header.isdigit() and len(header) <= _LONGEST_LENGTH else None


class Request:
    """
    A request as the fast path looks at it.

    `body` is there when it has been read. `ends_at` is when the call has to be answered, on the steady clock.
    `handed_on` is what Flask's environment shall have of it.
    """

    def __init__(self, scope: Scope, *, ends_at: float) -> None:
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.has_header_twice = len(self.headers) != len(scope["headers"])
        if self.has_header_twice:  # As Flask reads it.
            named: dict[bytes, list[bytes]] = {}
            for name, value in scope["headers"]:
                named.setdefault(name, []).append(value)
            self.headers = {name: b",".join(values) for name, values in named.items()}
        self.body = b""
        self.ends_at = ends_at
        self.handed_on: Mapping[str, object] = {}

    def header(self, name: bytes) -> str:
        """The value of a header, empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    def require_usual(self) -> None:
        """
        Require a body of JSON of a stated length without an encoding, no query, and no wish for a `Log-Position`.

        Raises: Fallback.
        """
        if (
            self.header(b"content-type").partition(";")[0].strip(" \t").lower() not in MEDIA_TYPES
            or not _ENCODINGS.isdisjoint(self.headers)
            or self.query
            or _WANTS_POSITION in self.headers
            or length_of(self.headers.get(b"content-length", b"")) != len(self.body)
            or len(self.body) > LONGEST_BODY
        ):
            raise Fallback


class Body:
    """The body of one call. `held` counts the bytes that it has of the room."""

    def __init__(self, room: Places) -> None:
        self.data = b""
        self._room = room
        self._caller: Caller | None = None
        self._held = 0

    async def read(self, receive: Receive, caller: Caller, *, most_bytes: int) -> None:
        """
        Read the body to its end, or one byte further than `most_bytes`: who looks at it finds it too long.

        Raises: Busy if there is no room for it; Gone.
        """
        self._caller = caller
        message = await receive()
        piece = _piece_of(message)
        if not message.get("more_body", False) and len(piece) <= min(SMALL, most_bytes):
            self.data = piece
            return
        pieces = bytearray()
        while True:
            piece = piece[: most_bytes + 1 - len(pieces)]
            self._room.take(caller, len(piece))
            self._held += len(piece)
            pieces += piece
            if not message.get("more_body", False) or len(pieces) > most_bytes:
                break
            message = await receive()
            piece = _piece_of(message)
        self.data = bytes(pieces)

    def forget(self) -> None:
        """Give back the room that it has."""
        if self._held and self._caller is not None:
            self._room.give_back(self._caller, self._held)
            self._held = 0


def _piece_of(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise Gone
    piece: bytes = message.get("body", b"")
    return piece
