"""Two figures compared: by how much the second differs from the first, in money and in per cent."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.reports.documents import Column, Sort

PERCENT_DECIMALS = 6
"""To so many a percentage is rounded, half to even: it is for people, and nothing is figured from it."""

_WIDE = Context(prec=100)

Compared = tuple[Decimal, Decimal, Decimal, Decimal | None]
"""Two figures, the second less the first, and that in per cent of the first."""


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
    return first, second, variance, percent(variance, first)


def percent(part: Decimal, whole: Decimal) -> Decimal | None:
    """How much a part is of the size of a whole, in per cent; None where something is held against nothing."""
    if not part:
        return ZERO
    if not whole:
        return None
    ratio = _WIDE.divide(_WIDE.multiply(part, Decimal(100)), whole.copy_abs())
    return ratio.quantize(Decimal(1).scaleb(-PERCENT_DECIMALS), ROUND_HALF_EVEN, _WIDE)
