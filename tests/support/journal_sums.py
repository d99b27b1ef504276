"""Sums over the journal, line by line: what reports must come to, figured the long way."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.domain.money import ZERO
from tests.support.world import World

Line = Mapping[str, Any]


def lines(world: World, jackpot_id: str, *, start: datetime | None = None, end: datetime | None = None) -> list[Line]:
    """The postings of a jackpot that were booked from `start` on and before `end`."""
    found = world.books.rows("SELECT * FROM postings WHERE jackpot_id = :jackpot ORDER BY 2, 3, 4", jackpot=jackpot_id)
    return [
        one for one in found if (start is None or one["booked_at"] >= start) and (end is None or one["booked_at"] < end)
    ]


def moved(found: Iterable[Line], *accounts: str, movement: str | None = None, currency: str = "EUR") -> Decimal:
    """What lines put into some accounts, perhaps by one movement."""
    return sum(
        (
            one["amount"]
            for one in found
            if one["account"] in accounts and movement in {None, one["movement"]} and one["currency"] == currency
        ),
        ZERO,
    )
