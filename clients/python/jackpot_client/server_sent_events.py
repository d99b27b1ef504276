"""
Server-sent events, read piece by piece.

Source: HTML Living Standard, 9.2.6, "Interpreting an event stream"; the type of an event is not used here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from jackpot_client.errors import ProtocolError

_LARGEST_EVENT_BYTES: Final = 4 * 1024 * 1024
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
"""A `\\r` at the very end of what came may be the first half of `\\r\\n`: it is looked at with the next piece."""


@dataclass(slots=True)
class ServerSentEvents:
    """
    A stream as far as it came: `last_event_id` to resume after, `retry_ms` as the service asks for it.

    `has_spoken` is whether an event or a comment came.
    """

    last_event_id: str = ""
    retry_ms: int = 0
    has_spoken: bool = False
    _rest: bytes = b""
    _data: list[bytes] = field(default_factory=list)
    _id: str = ""

    def read(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of each event that a piece completes. Raises: ProtocolError for one that does not end."""
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            if line:
                self._take(line)
            else:
                self.last_event_id = self._id
                if self._data:
                    data, self._data = b"\n".join(self._data), []
                    self.has_spoken = True
                    yield data
        if len(self._rest) + sum(map(len, self._data)) > _LARGEST_EVENT_BYTES:
            raise ProtocolError("an event of the stream does not end")

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not name:
            self.has_spoken = True
        elif name == b"data":
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self.retry_ms = min(int(value), 60_000)
