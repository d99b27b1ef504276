"""
Limits of one table: a token or bounds of stakes of its own, which hold next to those of the jackpot's rules.

A stake keeps both, so no table is looser than its jackpot, whatever becomes of either. They change no prize: so they do
not wait for the next cycle, as a version of the rules does.

Source: domain decision 29; rulebooks 000 and 004, which let a house change its minimum and its token at any time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from jackpot_service.domain.acceptance import Bounds, Taker, stake_refusals
from jackpot_service.domain.bets import Bets
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import ZERO, Rate, RateSheet, has_decimals, plain
from jackpot_service.domain.rules import LARGEST_AMOUNT, STAKE_DECIMALS, JackpotRules


class BadLimits(Refused, code="table-limits-invalid", title="Invalid limits of a table"):
    """The limits contradict one another, are no amounts of a stake, or are the table's already."""


class LooserLimits(Refused, code="table-limits-looser", title="Looser than the jackpot's"):
    """The table would take a stake that its jackpot does not take."""


@dataclass(frozen=True, slots=True)
class TableLimits:
    """
    The stakes that a table takes, in units of its jackpot's base currency; None where it has no bound of its own.

    Where a token is the stake, there are no other bounds.
    """

    token: Decimal | None = None
    least_stake: Decimal | None = None
    largest_stake: Decimal | None = None

    def __post_init__(self) -> None:
        for name, amount in self.amounts.items():
            if not (amount.is_finite() and ZERO < amount < LARGEST_AMOUNT and has_decimals(amount, STAKE_DECIMALS)):
                words = name.replace("_", " ")
                message = (
                    f"The {words} must be above 0, below 10^15, with at most {STAKE_DECIMALS} decimals, not {amount}."
                )
                raise BadLimits(message)
        if self.token is not None and len(self.amounts) > 1:
            message = "Where a token is the stake, a table has no other bounds."
            raise BadLimits(message)
        if self.least_stake is not None and self.largest_stake is not None and self.least_stake > self.largest_stake:
            message = "The least stake may not exceed the largest."
            raise BadLimits(message)

    @property
    def amounts(self) -> Mapping[str, Decimal]:
        """The bounds that there are, by name."""
        bounds = {"token": self.token, "least_stake": self.least_stake, "largest_stake": self.largest_stake}
        return {name: amount for name, amount in bounds.items() if amount is not None}

    def require_within(self, rules: JackpotRules) -> None:
        """Raises: LooserLimits if a stake that the limits name is none that the rules take."""
        if not self.amounts:
            return
        if rules.token is not None or rules.largest_stake is None:
            message = f"The jackpot takes exactly its token of {plain(rules.token or ZERO)} {rules.base}."
            raise LooserLimits(message)
        least = rules.least_stake or ZERO
        for name, amount in self.amounts.items():
            words = name.replace("_", " ")
            if amount > rules.largest_stake:
                most = f"{plain(rules.largest_stake)} {rules.base}"
                message = f"The {words} is too high: the jackpot takes stakes of at most {most}."
                raise LooserLimits(message, largest_stake=plain(rules.largest_stake))
            if amount < least:
                message = f"The {words} is too low: the jackpot takes stakes of at least {plain(least)} {rules.base}."
                raise LooserLimits(message, least_stake=plain(least))

    def require_payable(self, base: str, *, exponent: int) -> None:
        """Raises: BadLimits for a token that is no whole number of the base currency's minor units."""
        if self.token is None:
            return
        rate = Rate(base, Decimal(1), exponent)
        if rate.base_value(rate.most_minor_within(self.token)) != self.token:
            message = f"A token of {plain(self.token)} is no whole number of minor units of {base}."
            raise BadLimits(message)


class SetLimits(NamedTuple):
    """The limits of a table, and the version of its jackpot's table limits that set them."""

    version: int
    limits: TableLimits


LimitsOfTables = Mapping[str, SetLimits]
"""By table; a table without limits of its own is not there."""


def bounds_of(limits: TableLimits) -> Bounds:
    """Take the bounds that a table's limits set for a stake."""
    return Bounds(Taker.TABLE, limits.token, limits.least_stake, limits.largest_stake, own={})


def require_stakes(bets: Bets, limits: TableLimits, *, sheet: RateSheet) -> None:
    """
    Refuse a batch that holds a stake the table does not take, naming every bet that is wrong in the same way.

    Raises: NoRate for a currency that the sheet lacks; CurrencyNotAccepted; StakeOutOfRange.
    """
    for refusal in stake_refusals(bets, bounds_of(limits), sheet=sheet):
        raise refusal


def as_document(limits: TableLimits) -> dict[str, str]:
    """Write the bounds that there are, without trailing zeros; `{}` takes a table's limits away."""
    return {name: plain(amount) for name, amount in limits.amounts.items()}


def from_document(document: Mapping[str, str]) -> TableLimits:
    """Read the limits back. Raises: BadLimits; TypeError, ArithmeticError for what no document says."""
    return TableLimits(**{name: Decimal(amount) for name, amount in document.items()})
