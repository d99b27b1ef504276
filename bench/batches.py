"""
The requests of the load: rounds of N bets at one of the tables, as ready bytes that lack only their ids.

Ids are UUIDs of version 7, as the client makes them. All those of one request begin alike, so that one replacement
makes a request new.
"""

import json

HOST = "127.0.0.1"
TABLES = tuple(f"T{number}" for number in range(1, 9))

_PLACEHOLDER = "@" * 24
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


def templates(*, key: str, bets: int) -> tuple[bytes, ...]:
    """Write one request per table; their currencies are shifted, so that single bets differ too."""
    return tuple(_template(table, key=key, bets=bets, shift=shift) for shift, table in enumerate(TABLES))


def fill(template: bytes, serial: int) -> bytes:
    """Make a request of its own out of a template. Serial numbers are in units of 1/4096 ms and must not repeat."""
    return template.replace(_PLACEHOLDER.encode(), prefix(serial).encode())


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


def _template(table: str, *, key: str, bets: int, shift: int) -> bytes:
    body = json.dumps(
        {
            "bets": [
                {
                    "bet_id": bet_id(_PLACEHOLDER, number),
                    "player_id": player_id(number),
                    "hand": "1",
                    "currency": currency,
                    "stake_minor": stake_minor,
                }
                for number, (currency, stake_minor) in enumerate(stakes(bets, shift=shift))
            ]
        },
        separators=(",", ":"),
    )
    head = (
        f"POST /v1/tables/{table}/rounds/{bet_id(_PLACEHOLDER, 0)}/bets HTTP/1.1\r\n"
        f"Host: {HOST}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return (head + body).encode()
