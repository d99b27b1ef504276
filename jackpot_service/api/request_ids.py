"""Every answer carries an id: the caller's, or a new one."""

import random
from typing import Final

from jackpot_service.domain.shapes import IDENTIFIER

REQUEST_ID: Final = "X-Request-Id"


def request_id(sent: str) -> str:
    """Return the id that a request sent, if it is one, or else a new one."""
    # Not secret; and the system's random source is a call into the kernel.
    return sent if IDENTIFIER.fullmatch(sent) else f"{random.getrandbits(128):032x}"
