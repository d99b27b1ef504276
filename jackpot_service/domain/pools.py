"""The pools of a jackpot: four exact amounts in its base currency."""

from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain.money import EXACT, ZERO, negated


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
