"""
The requests of a table server, as ready bytes that lack only their ids: N bets of a round, and its result.

Ids are UUIDs of version 7, as the client makes them. All those of one round begin alike, so that one replacement
makes a request new.
"""

import itertools
import json
import time
from collections.abc import Iterator, Mapping

from bench.wire import HOST

TABLES = tuple(f"T{number}" for number in range(1, 9))

_PLACEHOLDER = "@" * 24
_ROYAL_FLUSH = ("As", "Ks", "Qs", "Js", "Ts")
# Six of eight stakes are in the jackpot's own currency; ten crowns are worth about one of them.
_STAKES = (
    ("EUR", 100),
    ("EUR", 200),
    ("EUR", 100),
    ("GBP", 100),
    ("EUR", 100),
    ("EUR", 500),
    ("EUR", 100),
    ("SEK", 1000),
)


def bets_template(table: str, *, key: str, bets: int, shift: int = 0, first: int = 0) -> bytes:
    """
    Write a batch of bets on one hand.

    The currencies are shifted, so that single bets differ too. A round's later batches begin with another `first`.
    """
    body = {
        "bets": [
            {
                "bet_id": bet_id(_PLACEHOLDER, number),
                "player_id": player_id(number),
                "hand": "1",
                "currency": currency,
                "stake_minor": stake_minor,
            }
            for number, (currency, stake_minor) in enumerate(stakes(bets, shift=shift), start=first)
        ]
    }
    return _request("POST", table, "bets", key=key, body=body)


def royal_flush_template(table: str, *, key: str, bets: int) -> bytes:
    """Write the result that hits: the hand of all bets is a royal flush."""
    body = {"bet_count": bets, "hands": [{"hand": "1", "cards": _ROYAL_FLUSH}]}
    return _request("PUT", table, "result", key=key, body=body)


def fill(template: bytes, serial: int) -> bytes:
    """Make a request of its own out of a template; requests of the same serial number are of the same round."""
    return template.replace(_PLACEHOLDER.encode(), prefix(serial).encode())


def serials() -> Iterator[int]:
    """Count in units of 1/4096 ms, the resolution of a UUID of version 7, from now: later counts begin higher."""
    return itertools.count(time.time_ns() * 4096 // 1_000_000)


def bet_id(prefix: str, number: int) -> str:
    """Name a bet of a round."""
    return f"{prefix}{number:012x}"


def player_id(number: int) -> str:
    """Name the player of a bet; each bets once in a round."""
    return f"p{number:04d}"


def stakes(bets: int, *, shift: int = 0) -> list[tuple[str, int]]:
    """Choose the currency and the stake, in minor units, of each bet of a request."""
    return [_STAKES[(number + shift) % len(_STAKES)] for number in range(bets)]


def prefix(serial: int) -> str:
    """Write a serial number as what all UUIDs of one round begin with."""
    digits = f"{serial:015x}"
    return f"{digits[:8]}-{digits[8:12]}-7{digits[12:]}-8000-"


def _request(method: str, table: str, call: str, *, key: str, body: Mapping[str, object]) -> bytes:
    text = json.dumps(body, separators=(",", ":"))
    head = (
        f"{method} /v1/tables/{table}/rounds/{bet_id(_PLACEHOLDER, 0)}/{call} HTTP/1.1\r\n"
        f"Host: {HOST}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return (head + text).encode()
