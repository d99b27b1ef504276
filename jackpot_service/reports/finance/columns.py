"""The columns of finance reports: those that several reports have, the types of others, and two figures compared."""

from collections.abc import Iterable
from decimal import Decimal
from functools import partial
from typing import Final

from jackpot_service.domain.money import ZERO
from jackpot_service.domain.statistics import percent
from jackpot_service.reports.documents import Column, ColumnType


def _columns_of_type(type_: ColumnType, currency_in: str | None = None, **titles: str) -> tuple[Column, ...]:
    """Return columns of a type, by name and title; a name that is a keyword of Python ends in `_`."""
    return tuple(Column(name.rstrip("_"), title, type_, None, currency_in) for name, title in titles.items())


texts = partial(_columns_of_type, ColumnType.TEXT)
counts = partial(_columns_of_type, ColumnType.COUNT)
numbers = partial(_columns_of_type, ColumnType.NUMBER)
percents = partial(_columns_of_type, ColumnType.PERCENT)
instants = partial(_columns_of_type, ColumnType.INSTANT)
days = partial(_columns_of_type, ColumnType.DAY)
amounts = partial(_columns_of_type, ColumnType.AMOUNT, "currency")
base_amounts = partial(_columns_of_type, ColumnType.AMOUNT, "base")

_COMMON: Final = {
    column.name: column
    for column in (
        *texts(jackpot_id="Jackpot", casino_id="Casino", table_id="Table", round_id="Round", round_key="Key"),
        *texts(bet_id="Bet", player_id="Player", hand="Hand", tier="Tier", paid_from="Paid from"),
        *texts(currency="Currency", base="Base currency", account="Account", movement="Movement"),
        *texts(kind="Kind", state="State", policy="Several winners", reason="Reason"),
        *counts(cycle="Cycle", awards="Number of awards", bets="Number of bets", act="Act"),
        *counts(rules_version="Rules version", rate_sheet="Rate sheet"),
        *instants(booked_at="Booked at", received_at="Received at"),
        *amounts(variance="Variance"),
        *percents(variance_percent="Variance, %"),
    )
}
"""The columns that several reports have."""


def columns(*declared: str | Iterable[Column]) -> tuple[Column, ...]:
    """Return columns: texts have the names of common ones, with blanks between them."""
    return tuple(
        column
        for names in declared
        for column in ([_COMMON[name] for name in names.split()] if isinstance(names, str) else names)
    )


Compared = tuple[Decimal, Decimal, Decimal, Decimal | None]
"""Two figures, the second less the first, and that in per cent of the size of the first: None if that is nothing."""


def compared(first: Decimal, second: Decimal) -> Compared:
    """Compare two figures, exactly."""
    variance = second - first
    return first, second, variance, percent(variance, first.copy_abs()) if variance else ZERO
