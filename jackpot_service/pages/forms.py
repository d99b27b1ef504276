"""Forms of pages: each carries an id that was made with its page, so that the same form again is a replay."""

import re
import secrets
from typing import Final

_BYTES: Final = 12
"""So many that an id of a form, and another id behind it, are one id."""


def new_request_id() -> str:
    """Make the request id of a form: 24 characters, of which nobody makes the same twice."""
    return secrets.token_hex(_BYTES)


_REQUEST_ID: Final = re.compile(rf"[0-9a-f]{{{2 * _BYTES}}}")


def is_request_id(text: str) -> bool:
    """Whether a text is such an id, as `new_request_id` makes them."""
    return _REQUEST_ID.fullmatch(text) is not None
