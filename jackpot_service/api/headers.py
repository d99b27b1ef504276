"""Headers of every answer: an id of the request, and what browsers and caches may do with it."""

import random
from collections.abc import Sequence
from typing import Final

from werkzeug.datastructures import Headers

from jackpot_service.domain.shapes import IDENTIFIER

REQUEST_ID: Final = "X-Request-Id"


def request_id(sent: str) -> str:
    """Return the id that a request sent, if it is one, or else a new one."""
    # Not secret; and the system's random source is a call into the kernel.
    return sent if IDENTIFIER.fullmatch(sent) else f"{random.getrandbits(128):032x}"


_ALWAYS: Final = ("X-Content-Type-Options", "nosniff")
_UNLESS_SAID: Final = ("Cache-Control", "no-store")

_CACHE_CONTROL: Final = _UNLESS_SAID[0].lower().encode()
_PLAIN: Final = ((_ALWAYS[0].lower().encode(), _ALWAYS[1].encode()), (_CACHE_CONTROL, _UNLESS_SAID[1].encode()))


def add(headers: Headers) -> None:
    """Add the headers to an answer of Flask. A meter may be kept, if it is asked for again each time."""
    headers[_ALWAYS[0]] = _ALWAYS[1]
    headers.setdefault(*_UNLESS_SAID)


def lacking(headers: Sequence[tuple[bytes, bytes]]) -> Sequence[tuple[bytes, bytes]]:
    """Return the headers that an answer of the fast path lacks, which has its names in small letters."""
    return _PLAIN[:1] if any(name == _CACHE_CONTROL for name, _ in headers) else _PLAIN
