"""The meter as it is shown: what is on offer, in the base currency and in others."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.domain.money import Rate, from_minor, in_atoms

SHARE_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Meter:
    """
    A jackpot's meter at one instant: `exact` is M, on offer, in base units; `overflow` what a limit keeps off it.

    `positions` names the instant; `as_of` is the last movement's time.
    """

    jackpot_id: str
    cycle: int
    base: str
    exact: Decimal
    overflow: Decimal
    as_of: datetime
    positions: tuple[int, ...]

    @property
    def version(self) -> str:
        """Changes whenever anything is booked for the jackpot."""
        return ".".join(map(str, self.positions))

    def amount_minor(self, rate: Rate) -> int:
        """The meter in whole minor units of a currency, rounded down: for display, never for payment."""
        return rate.most_minor_within(self.exact)

    def share_per_unit(self, weight: Decimal) -> Decimal | None:
        """M / W: what one unit staked would get in its own currency, rounded down to 10 decimals; None without W."""
        if not weight:
            return None
        factor = in_atoms(self.exact) * 10**SHARE_DECIMALS // in_atoms(weight)
        return from_minor(factor, SHARE_DECIMALS)
