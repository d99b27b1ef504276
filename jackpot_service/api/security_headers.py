"""What every answer tells browsers and caches: not to guess its type, and not to keep it unless it says so itself."""

from collections.abc import Sequence
from typing import Final

from werkzeug.datastructures import Headers

_ALWAYS: Final = ("X-Content-Type-Options", "nosniff")
_UNLESS_SAID: Final = ("Cache-Control", "no-store")

_CACHE_CONTROL: Final = _UNLESS_SAID[0].lower().encode()
_PLAIN: Final = ((_ALWAYS[0].lower().encode(), _ALWAYS[1].encode()), (_CACHE_CONTROL, _UNLESS_SAID[1].encode()))


def add(headers: Headers) -> None:
    """Add them to the headers of Flask's answer. A meter may be kept, if it is asked for again each time."""
    headers[_ALWAYS[0]] = _ALWAYS[1]
    headers.setdefault(*_UNLESS_SAID)


def beside(headers: Sequence[tuple[bytes, bytes]]) -> Sequence[tuple[bytes, bytes]]:
    """The same for an answer of the event loop, whose names are in small letters: those that it lacks."""
    return _PLAIN[:1] if any(name == _CACHE_CONTROL for name, _ in headers) else _PLAIN
