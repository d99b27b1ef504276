"""What acts on a jackpot's life, rules and money record; see `facts`. All name the positions at which they saw it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from jackpot_service.domain.adjustments import Adjustment
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import plain
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.retirement import Estate
from jackpot_service.domain.rule_changes import cost_against_split
from jackpot_service.domain.rules import JackpotRules, as_document


def of_life(life: Life, *, positions: Sequence[int]) -> Facts:
    """Where a jackpot stands from now on."""
    return {"state": life.value, "positions": list(positions)}


def of_rules(version: int, rules: JackpotRules) -> Facts:
    """A version of a jackpot's rules."""
    return {"rules": {"version": version, "document": as_document(rules)}}


def of_rules_change(version: int, rules: JackpotRules, *, positions: Sequence[int]) -> Facts:
    """A new version, which waits for the next cycle, and what its fixed prizes cost against the part that pays them."""
    return {**of_rules(version, rules), "fixed_prizes": cost_against_split(rules), "positions": list(positions)}


def of_pools(pools: Pools) -> Facts:
    """What the pools of a jackpot hold."""
    return {
        "pools": {
            "meter_players": plain(pools.meter_players),
            "meter_house": plain(pools.meter_house),
            "reserve": plain(pools.reserve),
            "prize_fund": plain(pools.prize_fund),
        }
    }


def of_adjustment(adjustment: Adjustment, *, positions: Sequence[int], after: Pools) -> Facts:
    """An adjustment, and the pools after it."""
    stated = {
        "account": adjustment.pool.value,
        "amount": plain(adjustment.amount),
        "document": adjustment.document,
        "cause": adjustment.cause.value,
    }
    return {**stated, **of_pools(after), "positions": list(positions)}


def of_amount(amount: Decimal, *, positions: Sequence[int], after: Pools) -> Facts:
    """A recovery of seed or a true-up: its amount, and the pools after it."""
    return {"amount": plain(amount), **of_pools(after), "positions": list(positions)}


def of_retirement(estate: Estate, *, to: str, house: Decimal, positions: Sequence[int], after: Pools) -> Facts:
    """A retirement: to whom the estate goes, what goes back to the house, and the pools after it."""
    return {
        "state": Life.RETIRED.value,
        "to": to,
        "estate": of_estate(estate),
        "to_house_seed": plain(house),
        **of_pools(after),
        "positions": list(positions),
    }


def of_transfer_received(estate: Estate, *, came_from: str, positions: Sequence[int], after: Pools) -> Facts:
    """The other half: from whom the estate came, and the pools after it."""
    return {"from": came_from, "estate": of_estate(estate), **of_pools(after), "positions": list(positions)}


def of_estate(estate: Estate) -> Mapping[str, str]:
    """The players' money that a retired jackpot hands on."""
    return {
        "meter": plain(estate.meter),
        "reserve": plain(estate.reserve),
        "prize_fund": plain(estate.prize_fund),
    }
