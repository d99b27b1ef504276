"""What must hold of rules that a running jackpot shall continue under, and what they would cost."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from jackpot_service.domain.money import ZERO, plain, product
from jackpot_service.domain.odds import fixed_prize_cost
from jackpot_service.domain.ratios import rounded
from jackpot_service.domain.rules import BadRules, FundedBy, JackpotRules, StakeMultiple
from jackpot_service.domain.settings import with_settings


def changed(before: JackpotRules, settings: Mapping[str, str | None], *, on_offer: Decimal) -> JackpotRules:
    """
    Change the newest rules of a jackpot whose meter now offers an amount.

    Raises: UnknownSetting; BadRules for settings that change nothing or make no jackpot, a limit below the meter, or a
    reset amount that does not cover the largest fixed prize that the meter pays.
    """
    after = with_settings(before, settings)
    if after == before:
        message = "These settings are those of the newest rules already."
        raise BadRules(message)
    if after.limit is not None and after.limit < on_offer:
        message = f"The limit may not lie below the meter, which offers {plain(on_offer)} {after.base}."
        raise BadRules(message)
    largest = largest_prize_of_the_meter(after)
    if after.reset_amount < largest:
        message = f"The reset amount must cover the largest fixed prize that the meter pays, {plain(largest)}."
        raise BadRules(message)
    return after


def largest_prize_of_the_meter(rules: JackpotRules) -> Decimal:
    """
    The largest fixed prize of one bet that the meter has to pay, in base units; 0 where a prize fund does.

    A largest stake of a single currency does not lower it: stakes in others may still be worth `largest_stake`.
    """
    if rules.fixed_prizes_from is FundedBy.PRIZE_FUND:
        return ZERO
    times = max((prize.times for prize in rules.prizes.values() if isinstance(prize, StakeMultiple)), default=0)
    return product(rules.token or rules.largest_stake or ZERO, Decimal(times))


def cost_against_split(rules: JackpotRules) -> dict[str, Any]:
    """
    Say what the fixed prizes cost on average, exactly and in per cent of turnover, against the part that pays them.

    Of the meter's part of the split it is said where the meter pays them.
    """
    cost = fixed_prize_cost(rules)
    part = rules.split.prize_fund if rules.fixed_prizes_from is FundedBy.PRIZE_FUND else rules.split.meter
    return {
        "paid_from": rules.fixed_prizes_from.value,
        "cost": str(cost),
        "cost_percent": plain(rounded(100 * cost)),
        "split_percent": plain(product(part, Decimal(100))),
    }
