"""Ids that a table server gives its bets and rounds before it first sends them, so that a retry can repeat them."""

import re
import secrets
import time
import uuid
from collections.abc import Iterable
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)


def new_bet_id() -> str:
    """Make an id for one bet: unique without asking anybody, and sorting by the time it was made."""
    return _time_ordered_id()


def new_round_id() -> str:
    """Make an id for one round of one table: unique without asking anybody, and sorting by the time it was made."""
    return _time_ordered_id()


def checked_id(value: str, *, name: str) -> str:
    """
    Return an id that may stand in a request and in its path.

    `.` and `..` match the contract's pattern, but a path loses them on its way.

    Raises: ValueError for anything else than 1 to 64 of `A-Za-z0-9._:-`, TypeError for what is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {value!r}")
    if not _ID.fullmatch(value) or value in {".", ".."}:
        raise ValueError(f"{name} must be 1 to 64 of A-Z a-z 0-9 . _ : - (and not a path's dots), not {value!r}")
    return value


def checked_texts(values: Iterable[str], *, name: str) -> tuple[str, ...]:
    """Return several texts. Raises: TypeError for one text, of which each letter would be taken for one."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be several texts, such as [{values!r}], not one: {values!r}")
    return tuple(values)


def _time_ordered_id() -> str:
    """
    Make a UUID of version 7 by hand (Python 3.11 has none), its first 60 bits being the time.

    Source: RFC 9562, 5.7 and 6.2 method 3 (12 bits of the millisecond's fraction in place of random ones).
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = nanoseconds * 4096 // 1_000_000
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))
