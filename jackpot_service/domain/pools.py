"""The pools of a jackpot: four exact amounts in its base currency, and the meter as it is shown."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.domain.money import EXACT, ZERO, Rate, from_minor, in_atoms, negated


@dataclass(frozen=True, slots=True)
class Pools:
    """
    What a jackpot, or one stripe of it, holds.

    The meter is two amounts, players' money and the house's, so that it stays known whose it is. One stripe's amounts
    may be negative; only the sums over all stripes have a meaning.
    """

    meter_players: Decimal = ZERO
    meter_house: Decimal = ZERO
    reserve: Decimal = ZERO
    prize_fund: Decimal = ZERO

    def __add__(self, other: "Pools") -> "Pools":
        return Pools(
            EXACT.add(self.meter_players, other.meter_players),
            EXACT.add(self.meter_house, other.meter_house),
            EXACT.add(self.reserve, other.reserve),
            EXACT.add(self.prize_fund, other.prize_fund),
        )

    def __sub__(self, other: "Pools") -> "Pools":
        return Pools(
            EXACT.subtract(self.meter_players, other.meter_players),
            EXACT.subtract(self.meter_house, other.meter_house),
            EXACT.subtract(self.reserve, other.reserve),
            EXACT.subtract(self.prize_fund, other.prize_fund),
        )

    @property
    def meter(self) -> Decimal:
        """The booked meter, whoever's money it is; what is on offer may be less (`on_offer`)."""
        return EXACT.add(self.meter_players, self.meter_house)

    def on_offer(self, limit: Decimal | None) -> Decimal:
        """The meter on offer, M: the booked meter, never more than the limit and never below zero."""
        offered = max(self.meter, ZERO)
        return offered if limit is None else min(offered, limit)

    def overflow(self, limit: Decimal | None) -> Decimal:
        """What the booked meter holds beyond what is on offer."""
        return EXACT.subtract(max(self.meter, ZERO), self.on_offer(limit))

    @property
    def fill(self) -> Decimal:
        """What lifts a players' part of the meter that fell below zero, as far as the house's part reaches."""
        return min(max(negated(self.meter_players), ZERO), max(self.meter_house, ZERO))


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
