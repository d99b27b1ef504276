"""What goes out on a connection: the head of an answer and its body leave in one piece."""

import asyncio
from typing import Any, Final

LARGEST_PIECE: Final = 64 * 1024
"""Bytes; when so many are there, they leave at once."""


class Answering(asyncio.Transport):
    """
    The transport to which answers are written: what is written in one turn of the event loop leaves together.

    uvicorn writes a head and a body one after the other, and each would be a call of the kernel: a tenth of the
    processor that a small bet costs the service.
    """

    __slots__ = ("_loop", "_pieces", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:  # type: ignore[override]
        """Send data with what else is written in this turn of the loop."""
        if not self._pieces:
            self._loop.call_soon(self.flush)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > LARGEST_PIECE:
            self.flush()

    def flush(self) -> None:
        """Send what was written."""
        if not self._pieces:
            return
        data = b"".join(self._pieces)
        self._pieces = []
        self._size = 0
        self._transport.write(data)

    def write_eof(self) -> None:
        """Say that nothing more is sent."""
        self.flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Send what was written, and close."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once, whatever was written."""
        self._pieces = []
        self._size = 0
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether it is closed, or about to be."""
        return self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        """Return how much was written that the kernel has not taken."""
        return self._size + self._transport.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401  asyncio's
        """Return what is known of the connection."""
        return self._transport.get_extra_info(name, default)

    def is_reading(self) -> bool:
        """Return whether what comes is read."""
        return self._transport.is_reading()

    def pause_reading(self) -> None:
        """Read no more."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._transport.resume_reading()
