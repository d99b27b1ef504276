"""The transport of a connection as uvicorn sees it: answers leave in one piece, and reading pauses for two reasons."""

import asyncio
import fcntl
import struct
import termios
from typing import Any, Final

LARGEST_PIECE: Final = 64 * 1024
"""Bytes; when so many are there, they leave at once."""

_INT: Final = "i"


class ClientTransport(asyncio.Transport):
    """
    A transport whose writes in one turn of the event loop leave together, and which either side can keep from reading.

    uvicorn writes a head and a body one after the other. Each would be a call of the kernel: a tenth of the processor
    that a small bet costs the service. Reading is paused by uvicorn while it holds a body, and held by the connection
    while that has read more than one request.
    """

    __slots__ = ("_is_held", "_is_paused", "_loop", "_pieces", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_paused = False
        self._is_held = False

    # Output.

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
        """Send what was written, and then the end."""
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

    def untaken_bytes(self) -> int:
        """Return how much the client has not taken of what the transport could not pass on; 0 if it passed on all."""
        waiting = self.get_write_buffer_size()
        if not waiting:
            return 0
        descriptor = self.get_extra_info("socket").fileno()
        # The kernel takes more only when much of what it has is gone: the transport alone would show no progress.
        (in_kernel,) = struct.unpack(_INT, fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(struct.calcsize(_INT))))
        return int(waiting + in_kernel)

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401  asyncio's
        """Return a fact about the connection, such as its socket."""
        return self._transport.get_extra_info(name, default)

    # Input.

    def is_reading(self) -> bool:
        """Return whether what comes is read."""
        return self._transport.is_reading()

    def pause_reading(self) -> None:
        """Read no more until uvicorn has passed on what came."""
        self._is_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on, unless the connection holds the reading."""
        self._is_paused = False
        if not self._is_held:
            self._transport.resume_reading()

    def hold_reading(self) -> None:
        """Read no more until the connection has dealt with what came, whatever uvicorn says."""
        self._is_held = True
        self._transport.pause_reading()

    def release_reading(self) -> None:
        """Read on, unless uvicorn has paused the reading."""
        if self._is_held:
            self._is_held = False
            if not self._is_paused:
                self._transport.resume_reading()
