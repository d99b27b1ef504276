"""What the entries of rounds tell: settled, with awards, perhaps a hit and a reset; cancelled; bets made void."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import plain
from jackpot_service.events.award_documents import SettledAwards
from jackpot_service.events.drafts import OfAward, Telling, totals
from jackpot_service.events.entries import OfRound
from jackpot_service.events.event import Draft, EventType
from jackpot_service.events.round_documents import CancelledRound, SettledRound, Stakes, Voids


@dataclass(frozen=True, slots=True)
class Told:
    """A round, the jackpot that it plays for, and that one's base currency."""

    jackpot_id: str
    currency: str
    round: OfRound

    @property
    def subject(self) -> str:
        """The round in words, as the audit trail names it."""
        return f"round {self.round.table_id}/{self.round.round_id}"

    def names(self) -> dict[str, Any]:
        """What every event of a round says, but those that everybody sees."""
        return {
            "jackpot_id": self.jackpot_id,
            "table_id": self.round.table_id,
            "round_id": self.round.round_id,
            "casino_id": self.round.casino_id,
            "rules_version": self.round.rules_version,
            "rate_sheet": self.round.rate_sheet,
        }


def settled(told: Told, settlement: SettledRound, stakes: Stakes, awards: SettledAwards) -> list[Telling]:
    """A result: the round, each award; and where it won the jackpot, the hit and the cycle that begins."""
    tellings: list[Telling] = [
        _settled(told, settlement, stakes, awards),
        *(OfAward(EventType.AWARD_MADE, name) for name in awards.names),
    ]
    if settlement.is_hit:
        tellings += [_hit(told, settlement, awards), _reset(told, settlement)]
    return tellings


def _settled(told: Told, settlement: SettledRound, stakes: Stakes, awards: SettledAwards) -> Draft:
    data = {
        **told.names(),
        "cycle": settlement.cycle,
        "occurred_at": instant(settlement.occurred_at),
        "stakes": totals(stakes.live.listed(), counted="bets"),
        "refunds": totals(stakes.dead.listed(), counted="bets"),
        "awards": totals(awards.totals.listed(), counted="awards"),
        "currency": told.currency,
        "policy": settlement.policy,
        "total_stake_base": plain(settlement.weight),
        "meter_before": plain(settlement.meter_before),
        "meter_after": plain(settlement.meter_after),
        "reserve_after": plain(settlement.reserve_after),
        "prize_fund_after": plain(settlement.prize_fund_after),
        "house_seed": plain(settlement.house_seed),
        "is_hit": settlement.is_hit,
    }
    return Draft(EventType.ROUND_SETTLED, told.subject, data)


def _hit(told: Told, settlement: SettledRound, awards: SettledAwards) -> Draft:
    """The jackpot was won. It names no casino and no player: every key sees it."""
    data = {
        "jackpot_id": told.jackpot_id,
        "table_id": told.round.table_id,
        "round_id": told.round.round_id,
        "cycle": settlement.cycle,
        "currency": told.currency,
        "meter_before": plain(settlement.meter_before),
        "paid": plain(awards.paid),
        **_after_a_hit(settlement),
    }
    return Draft(EventType.HIT, f"jackpot {told.jackpot_id}", data)


def _reset(told: Told, settlement: SettledRound) -> Draft:
    data = {
        "jackpot_id": told.jackpot_id,
        "cycle": settlement.cycle_after,
        "rules_version": settlement.rules_version,
        "currency": told.currency,
        "meter": plain(settlement.meter_after),
        "reserve": plain(settlement.reserve_after),
        **_after_a_hit(settlement),
    }
    return Draft(EventType.RESET, f"jackpot {told.jackpot_id}", data)


def _after_a_hit(settlement: SettledRound) -> Mapping[str, Any]:
    """What was left of the meter, and what came to it: from above the limit to the reserve, and from the house."""
    return {
        "carried": None if settlement.carried is None else plain(settlement.carried),
        "overflow": plain(settlement.overflow),
        "house_seed": plain(settlement.house_seed),
    }


def cancelled(told: Told, cancellation: CancelledRound, stakes: Stakes) -> list[Telling]:
    """A round called off, and every live stake given back."""
    data = {
        **told.names(),
        "cycle": cancellation.cycle,
        "occurred_at": instant(cancellation.occurred_at),
        "reason": cancellation.reason,
        "refunds": totals(stakes.live.listed(), counted="bets"),
    }
    return [Draft(EventType.ROUND_CANCELLED, told.subject, data)]


def voided(told: Told, voids: Voids) -> list[Telling]:
    """Bets made void, before or after they came."""
    data = {
        **told.names(),
        "occurred_at": instant(voids.occurred_at),
        "bet_ids": voids.bet_ids,
        "tombstones": voids.tombstones,
        "refunds": totals(voids.refunds.listed(), counted="bets"),
    }
    return [Draft(EventType.BETS_VOIDED, told.subject, data)]
