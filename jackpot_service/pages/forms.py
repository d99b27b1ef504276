"""Forms of pages: each carries an id that was made with its page, so that the same form again is a replay."""

import secrets
from typing import Final

_BYTES: Final = 12
"""So many that an id of a form, and another id behind it, are one id."""


def new_request_id() -> str:
    """Make the request id of a form: 24 characters, of which nobody makes the same twice."""
    return secrets.token_hex(_BYTES)
