"""How rates move from one sheet to the next, and which of the moves an approver has to repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain.facts import Facts
from jackpot_service.domain.rates import INVERTED, Rates, to_confirm
from jackpot_service.pages import figures


@dataclass(frozen=True, slots=True)
class RateMove:
    """
    A currency in two sheets, one after the other; None where a sheet does not have it.

    `is_beyond` says that the rate leaves the band around the rate before, or is new, so that its approver repeats it.
    `is_inverted` says that it was probably quoted the other way round.
    """

    currency: str
    before: Decimal | None
    after: Decimal | None
    is_beyond: bool = False
    is_inverted: bool = False

    @property
    def move(self) -> str:
        """The move in per cent, such as +2.13 %; empty if the rate does not move."""
        if self.before is None or self.after is None:
            return ""
        return figures.move(self.before, self.after)

    @property
    def chip(self) -> tuple[str, str] | None:
        """A word that a person should see, and its colour; None if there is nothing to say."""
        if self.before is None and self.after is not None:
            return "new", "gold"
        if self.after is None:
            return "leaves", "wrong"
        if self.is_inverted:
            return "the other way round?", "wrong"
        return ("beyond the band", "gold") if self.is_beyond else None

    @property
    def is_same(self) -> bool:
        """Whether nothing changes."""
        return self.before == self.after


def rate_moves(before: Rates, after: Rates, *, band: Decimal) -> Mapping[str, RateMove]:
    """Compare the rates of two sheets, by currency."""
    unusual = to_confirm(before, after, band=band)
    return {
        code: RateMove(
            code,
            before.get(code),
            after.get(code),
            is_beyond=code in unusual or f"{code}:{INVERTED}" in unusual,
            is_inverted=f"{code}:{INVERTED}" in unusual,
        )
        for code in sorted({*before, *after})
    }


def rates_in(sheet: Facts | None, base: str) -> Rates:
    """Read the rates of a sheet as an act records it, without that of the base currency; none of no sheet."""
    listed: Sequence[tuple[str, str, int]] = () if sheet is None else sheet["rates"]
    return {code: Decimal(rate) for code, rate, _ in listed if code != base}


def summary(moves: Mapping[str, RateMove]) -> str:
    """Say how many rates change, and how many of them an approver repeats."""
    changed = [move for move in moves.values() if not move.is_same]
    repeated = sum(move.is_beyond for move in changed)
    if not changed:
        return "No rate changes."
    counted = "1 currency changes" if len(changed) == 1 else f"{len(changed)} currencies change"
    if not repeated:
        return f"{counted}, none beyond the band."
    return f"{counted}. The approver must type {repeated} of the rates again: they are beyond the band, or new."
