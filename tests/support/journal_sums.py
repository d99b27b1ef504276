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
    booked = world.books.rows("SELECT * FROM postings WHERE jackpot_id = :jackpot ORDER BY 2, 3, 4", jackpot=jackpot_id)
    return [
        line
        for line in booked
        if (start is None or line["booked_at"] >= start) and (end is None or line["booked_at"] < end)
    ]


def moved(booked: Iterable[Line], *accounts: str, movement: str | None = None, currency: str = "EUR") -> Decimal:
    """What lines put into some accounts, perhaps by one movement."""
    return sum(
        (
            line["amount"]
            for line in booked
            if line["account"] in accounts and movement in {None, line["movement"]} and line["currency"] == currency
        ),
        ZERO,
    )
