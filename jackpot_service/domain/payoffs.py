"""How an award was arrived at: its formula, and its exact amount before it was rounded down to a payable minor unit."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from jackpot_service.domain.money import POOL_DECIMALS, plain
from jackpot_service.domain.prizes import StakeMultiple, Tier
from jackpot_service.domain.rules import FundedBy, JackpotRules
from jackpot_service.domain.statistics import rounded_down


@dataclass(frozen=True, slots=True)
class Basis:
    """
    The figures of a verdict from which its awards follow: M, on offer; W, the stakes' value; and how winners shared.

    `entitled` is the part of M that the award's own hand was entitled to, in the base; None where the round shares.
    """

    meter: Decimal
    weight: Decimal
    policy: str
    entitled: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Payoff:
    """A formula in words, and the amount that it makes, exactly, in units of the award's currency."""

    formula: str
    due: Fraction


def payoff_of(
    tier: Tier, funded_by: str, basis: Basis, rules: JackpotRules, *, stake: Decimal, rate: Decimal
) -> Payoff:
    """Figure an award again, of a stake in units of its currency, which is worth `rate` units of the base."""
    if funded_by == FundedBy.PRIZE_FUND:
        prize = rules.prizes[tier]
        assert isinstance(prize, StakeMultiple)  # noqa: S101  narrows a type: no other prize is a prize fund's
        return Payoff(f"stake x {prize.times}", Fraction(stake) * prize.times)
    if basis.entitled is None:
        return Payoff("stake x M / W", Fraction(stake) * Fraction(basis.meter) / Fraction(basis.weight))
    shown = plain(rounded_down(basis.entitled, POOL_DECIMALS))
    return Payoff(f"{shown} of M / rate", basis.entitled / Fraction(rate))
