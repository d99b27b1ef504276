"""A change of a jackpot's rules: a new version, which waits until the running jackpot is won."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.domain.prizes import FixedAmount, MeterPart, Prize, StakeMultiple
from jackpot_service.domain.rules import BadRules, FundedBy, JackpotRules, as_document, from_document
from jackpot_service.domain.settings import Setting, require_payable_stakes, with_settings
from jackpot_service.domain.statistics import fixed_prize_cost, rounded
from jackpot_service.records import references
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.jackpots import JackpotKind, JackpotState
from jackpot_service.usecases.fields import ObjectOf
from jackpot_service.usecases.setting_values import SettingValue


@dataclass(frozen=True, kw_only=True)
class ChangeRules(JackpotKind):
    """A jackpot gets new parameters, in force once it is won; None takes an optional one away."""

    name = "rules"
    about = "rules of jackpot {0.jackpot_id}"
    acts: ClassVar = {EntryKind.RULES_CHANGED: "jackpot.rules.changed"}

    settings: Annotated[Mapping[str, Setting], ObjectOf(SettingValue(), metadata={"description": "Settings by name."})]

    def version(self, session: Session) -> str:
        """Name the newest version, pending or not: settings change that one. Raises: UnknownJackpot."""
        references.require_base(session, self.jackpot_id)
        return str(references.last_rules_version(session, self.jackpot_id))

    def decide(self, state: JackpotState) -> Done:
        """
        Change the newest rules. They are no cycle's until the next hit, which holds all stripes as this does.

        Raises: UnknownSetting; BadRules for settings that change nothing or make no jackpot, a limit below the meter,
        or a reset amount below the largest fixed prize that the meter pays.
        """
        version = state.newest_version
        before = state.versions[version]
        after = with_settings(before, self.settings)
        if after == before:
            message = "These settings are those of the newest rules already."
            raise BadRules(message)
        on_offer = state.pools.on_offer(state.rules.limit)
        if after.limit is not None and after.limit < on_offer:
            message = f"The limit may not lie below the meter, which offers {plain(on_offer)} {after.base}."
            raise BadRules(message)
        largest = _largest_prize_of_the_meter(after)
        if after.reset_amount < largest:
            message = f"The reset amount must cover the largest fixed prize that the meter pays, {plain(largest)}."
            raise BadRules(message)
        recorded = {
            **_facts(version + 1, after),
            "fixed_prizes": _cost_against_split(after),
            "positions": list(state.positions),
        }
        return Done(EntryKind.RULES_CHANGED, _facts(version, before), recorded)

    def require_payable(self, act: Act, _state: JackpotState, done: Done) -> None:
        """Raises: UnknownCurrency, BadRules for stakes whose awards could not be paid."""
        after = from_document(done.recorded["rules"]["document"])
        require_payable_stakes(after, exponent=currencies.tender(after.base, on=act.now.date()).exponent)

    def write(self, session: Session, _act: Act, _act_seq: int, state: JackpotState, done: Done) -> None:
        """Write the new version."""
        rules = done.recorded["rules"]
        after, entry_seq = from_document(rules["document"]), state.positions[0] + 1
        references.add_rules(session, state.jackpot_id, rules["version"], after, entry_seq=entry_seq)


def _facts(version: int, rules: JackpotRules) -> Facts:
    return {"rules": {"version": version, "document": as_document(rules)}}


def _largest_prize_of_the_meter(rules: JackpotRules) -> Decimal:
    """
    Find the largest fixed prize of one bet that the meter has to pay, in base units; 0 where a prize fund does.

    A largest stake of a single currency does not lower it: stakes in others may still be worth `largest_stake`.
    """
    if rules.fixed_prizes_from is FundedBy.PRIZE_FUND:
        return ZERO
    stake = rules.token or rules.largest_stake or ZERO
    return max((_prize_of(stake, prize) for prize in rules.prizes.values()), default=ZERO)


def _prize_of(stake: Decimal, prize: Prize) -> Decimal:
    match prize:
        case StakeMultiple(times):
            return stake * Decimal(times)
        case FixedAmount(amount):
            return amount
        case MeterPart():
            return ZERO


def _cost_against_split(rules: JackpotRules) -> dict[str, Any]:
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
        "split_percent": plain(part * Decimal(100)),
    }
