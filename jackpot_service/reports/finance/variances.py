"""Two figures compared: by how much the second differs from the first, in money and in per cent."""

from decimal import Decimal

from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.domain.statistics import percent
from jackpot_service.reports.documents import Column, Sort

Compared = tuple[Decimal, Decimal, Decimal, Decimal | None]
"""Two figures, the second less the first, and that in per cent of the size of the first: None if that is nothing."""


def columns(first: tuple[str, str], second: tuple[str, str], *, currency_in: str) -> tuple[Column, ...]:
    """The columns of two figures, each named and titled, and of their variance."""
    return (
        *(Column(name, title, Sort.AMOUNT, currency_in=currency_in) for name, title in (first, second)),
        Column("variance", "Variance", Sort.AMOUNT, currency_in=currency_in),
        Column("variance_percent", "Variance, %", Sort.PERCENT),
    )


def compared(first: Decimal, second: Decimal) -> Compared:
    """Compare two figures, exactly."""
    variance = EXACT.subtract(second, first)
    return first, second, variance, percent(variance, first.copy_abs()) if variance else ZERO
