"""How the ledger's values look in JSON. Pool amounts and rates are decimal texts; players' money is minor units."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.facts import instant
from jackpot_service.domain.meters import Meter
from jackpot_service.domain.money import Rate, from_minor, plain
from jackpot_service.domain.rounds import RoundView
from jackpot_service.records.verdicts import BookedAward, BookedSettlement


def of_round(view: RoundView) -> dict[str, Any]:
    """A round with the cycle it belongs to."""
    round_ = view.round
    return {
        "jackpot_id": round_.jackpot_id,
        "table_id": round_.table_id,
        "round_id": round_.round_id,
        "state": round_.state.value,
        "cycle": view.cycle,
        "rules_version": round_.rules_version,
        "rate_sheet": round_.rate_sheet,
        "bet_count": round_.bet_count,
        "total_stake_base": plain(round_.weight),
    }


def of_meter(meter: Meter, rate: Rate) -> dict[str, Any]:
    """A meter in a currency of the sheet."""
    amount_minor = meter.amount_minor(rate)
    return {
        "jackpot_id": meter.jackpot_id,
        "cycle": meter.cycle,
        "currency": rate.currency,
        "amount_minor": amount_minor,
        "amount": format(from_minor(amount_minor, rate.exponent), "f"),
        "amount_exact": plain(meter.exact),
        "overflow": plain(meter.overflow),
        "last_movement_at": instant(meter.as_of),
        "version": meter.version,
    }


def of_settlement(
    settlement: BookedSettlement, awards: Iterable[BookedAward], refunds: Iterable[Bet]
) -> dict[str, Any]:
    """A settlement with its awards and refunds."""
    return {
        "policy": settlement.policy,
        "meter_before": plain(settlement.meter_before),
        "total_stake_base": plain(settlement.weight),
        "awards": [of_award(award) for award in awards],
        "refunds": [of_refund(bet) for bet in refunds],
        "meter_after": plain(settlement.meter_after),
        "reserve_after": plain(settlement.reserve_after),
        "prize_fund_after": plain(settlement.prize_fund_after),
        "carried": _plain(settlement.carried),
        "house_seed": plain(settlement.house_seed),
        "cycle_after": settlement.cycle_after,
    }


def of_award(award: BookedAward) -> dict[str, Any]:
    """An award."""
    return {
        "award_id": award.award_id,
        "bet_id": award.bet_id,
        "player_id": award.player_id,
        "hand": award.hand,
        "tier": award.tier,
        "amount_minor": award.amount_minor,
        "currency": award.currency,
        "cost_base": plain(award.cost),
        "state": award.state.value,
    }


def of_refund(bet: Bet) -> dict[str, Any]:
    """A stake given back."""
    return {
        "bet_id": bet.bet_id,
        "player_id": bet.player_id,
        "amount_minor": bet.stake_minor,
        "currency": bet.currency,
    }


def _plain(amount: Decimal | None) -> str | None:
    return None if amount is None else plain(amount)


def of_rate(rate: Rate) -> dict[str, Any]:
    """A rate of a sheet."""
    return {"currency": rate.currency, "rate": plain(rate.base_per_unit), "exponent": rate.exponent}
