"""
Whole bodies: read on the event loop before their call is given anything that others may need.

A client that sends half a body holds a connection and the bytes that came, and nothing else. How many bytes the callers
of a process may have in memory is bounded, and shared by casino and key as all places are.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from jackpot_service.api.places import Caller, Places

ROOM: Final = 32 * 1024 * 1024
"""Bytes of bodies that are read, or looked at, in one process; up to three times as many while callers share anew."""

SMALL: Final = 16 * 1024
"""Bytes: a body that comes in one piece no longer than this is not counted; connections bound these."""

_LONGEST_LENGTH: Final = 9
"""Digits of a length that are read: more of them tell one that is longer than any."""

Receive = Callable[[], Awaitable[dict[str, Any]]]


class Gone(Exception):
    """The client went away before its request was whole."""


def length_of(header: bytes) -> int | None:
    """The length that a header states; None if it states none, or one that is longer than any."""
    return int(header) if header.isdigit() and len(header) <= _LONGEST_LENGTH else None


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


def _piece_of(message: dict[str, Any]) -> bytes:
    if message["type"] == "http.disconnect":
        raise Gone
    piece: bytes = message.get("body", b"")
    return piece
