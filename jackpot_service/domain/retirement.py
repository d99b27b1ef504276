"""What a retired jackpot leaves, and where it goes: the players' money to another jackpot, the house's to the house."""

from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import EXACT, ZERO, negated, plain
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.rules import FundedBy


class PoolsShort(Conflict):
    """The prize fund, the reserve or the players' part of the meter is below zero: the house makes that good first."""

    code = "pools-short"
    title = "A pool is below zero"


@dataclass(frozen=True, slots=True)
class Estate:
    """The players' money that a retired jackpot hands on: of its meter, its reserve and its prize fund."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal


def estate_of(pools: Pools) -> Estate:
    """
    Find what a jackpot with these pools hands on, once the house's part has filled the players', if that is below zero.

    Raises: PoolsShort if a pool is below zero even so; an adjustment or a true-up, each approved, lifts it.
    """
    estate = Estate(EXACT.add(pools.meter_players, pools.fill), pools.reserve, pools.prize_fund)
    left_over = {
        "players' part of the meter": estate.meter,
        "reserve": estate.reserve,
        "prize fund": estate.prize_fund,
    }
    for name, amount in left_over.items():
        if amount < ZERO:
            message = f"The {name} is {plain(amount)}: it is lifted to zero before the jackpot is retired."
            raise PoolsShort(message)
    return estate


def left(pools: Pools, *, request_id: str, base: str) -> Postings:
    """
    Empty the pools of a retired jackpot: its estate to the transfer, the house's part of the meter to the house.

    Raises: PoolsShort.

    Source: domain decision 22 (docs/decisions/money-by-hand.md).
    """
    estate = estate_of(pools)
    leaving = {
        accounts.METER_PLAYERS: negated(estate.meter),
        accounts.RESERVE: negated(estate.reserve),
        accounts.PRIZE_FUND: negated(estate.prize_fund),
    }
    return posting_rules.joined(
        [
            posting_rules.for_fill(pools.fill, base=base),
            posting_rules.for_recovery(EXACT.subtract(pools.meter_house, pools.fill), base=base),
            posting_rules.for_transfer(leaving, request_id=request_id, base=base),
        ]
    )


def received(estate: Estate, *, request_id: str, fixed_prizes_from: FundedBy, base: str) -> Postings:
    """
    Put an estate into the jackpot that receives it, like to like.

    Where that one's meter pays the fixed prizes, what was for them becomes its meter: it has no use for a prize fund.
    """
    has_prize_fund = fixed_prizes_from is FundedBy.PRIZE_FUND
    coming = {
        accounts.METER_PLAYERS: estate.meter if has_prize_fund else EXACT.add(estate.meter, estate.prize_fund),
        accounts.RESERVE: estate.reserve,
        accounts.PRIZE_FUND: estate.prize_fund if has_prize_fund else ZERO,
    }
    return posting_rules.for_transfer(coming, request_id=request_id, base=base)
