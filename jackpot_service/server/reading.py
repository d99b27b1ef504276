"""What comes on a connection, and what goes: whether it reads, and how much its client has not taken."""

import asyncio
import fcntl
import struct
import termios
from typing import Any

_INT = "i"


def untaken_bytes(transport: asyncio.Transport) -> int:
    """Return how much the client has not taken of what the transport could not pass on; 0 if it passed on all."""
    waiting = transport.get_write_buffer_size()
    if not waiting:
        return 0
    descriptor = transport.get_extra_info("socket").fileno()
    # Of what the kernel has, it takes more only when much of it is gone: the transport alone would show no progress.
    (in_kernel,) = struct.unpack(_INT, fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(struct.calcsize(_INT))))
    return int(waiting + in_kernel)


class Reading(asyncio.Transport):
    """The transport of a connection as uvicorn sees it, which pauses and resumes it by its own lights."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._is_paused = False
        self._is_held = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401  asyncio's
        """Say what is known of the connection."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Read no more until uvicorn has passed on what came."""
        self._is_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Let uvicorn have more."""
        self._is_paused = False
        self._go_on()

    def hold(self) -> None:
        """Read no more until the connection has dealt with what came, whatever uvicorn says."""
        self._is_held = True
        self._transport.pause_reading()

    def release(self) -> None:
        """Let the connection have more."""
        if self._is_held:
            self._is_held = False
            self._go_on()

    def _go_on(self) -> None:
        if not (self._is_paused or self._is_held):
            self._transport.resume_reading()
