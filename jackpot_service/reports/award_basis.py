"""The figures that an award was made of: from the stake to the amount, its hand, and what its payout tier asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.cards import Card
from jackpot_service.domain.facts import Facts, result_of
from jackpot_service.domain.money import Rate, from_minor
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.payoffs import Basis, Payoff, payoff_of
from jackpot_service.domain.payout_tiers import Requirement, is_any_reached, requirement_of
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import Round
from jackpot_service.records import awards, corrections, immutable, payout_tiers, references, rounds, verdicts
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName


@dataclass(frozen=True, slots=True)
class AwardBasis:
    """
    The figures of an award.

    `booked_at` is when the verdict that made it was booked. `rate` is that of the round's own sheet. `payoff` is exact:
    the award is that, rounded down to a minor unit of its currency, less what an earlier verdict had paid for it.
    `requirement` is what its payout tiers ask for; `is_tier_reached` says whether it reaches any.
    """

    round: Round
    booked_at: datetime
    base: str
    stake_minor: int
    rate: Rate
    cards: Sequence[Card]
    basis: Basis
    payoff: Payoff
    requirement: Requirement
    is_tier_reached: bool

    def paid_before_minor(self, amount_minor: int) -> int:
        """Return how much of what was due earlier verdicts had paid, if the award is of so much."""
        return int(self.payoff.due * 10**self.rate.exponent) - amount_minor


def basis_of(session: Session, record: AwardRecord) -> AwardBasis:
    """Read the figures that an award was made of."""
    round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
    base = references.require_base(session, record.jackpot_id)
    sheet = immutable.sheet(session, base, round_.rate_sheet)
    rules = immutable.rules(session, record.jackpot_id, round_.rules_version)
    award, rate = record.award, sheet.rate(record.award.currency)
    verdict = _verdict(session, record, round_)
    basis = _basis(verdict.figures, award.bet_id, award.tier)
    stake = from_minor(record.stake_minor, rate.exponent)
    tiers, made = payout_tiers.tiers_of_round(session, round_), [awards.made(award)]
    return AwardBasis(
        round=round_,
        booked_at=verdict.booked_at,
        base=base,
        stake_minor=record.stake_minor,
        rate=rate,
        cards=next(hand.cards for hand in verdict.result.hands if hand.hand == award.hand),
        basis=basis,
        payoff=payoff_of(Tier(award.tier), award.funded_by, basis, rules, stake=stake, rate=rate.base_per_unit),
        requirement=requirement_of(tiers, made),
        is_tier_reached=is_any_reached(tiers, made),
    )


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The verdict that made an award, a settlement or a correction: when it was booked, its figures and its result."""

    booked_at: datetime
    figures: Facts
    result: Result


def _verdict(session: Session, record: AwardRecord, round_: Round) -> _Verdict:
    if record.award.correction:
        act = corrections.corrections_of_round(session, round_)[record.award.correction - 1].act
        return _Verdict(act.booked_at, act.after, result_of(act.after["result"]))
    with pipelined(session) as pipe:
        cursor = verdicts.send_ending(pipe, round_)
    ended = verdicts.ending_of(cursor)
    return _Verdict(awards.credited_at(session, record), ended["settlement"], result_of(ended["result"]))


def _basis(figures: Facts, bet_id: str, tier: str) -> Basis:
    meter = Decimal(figures["meter"] if "meter" in figures else figures["meter_before"])
    claims = {(claim["bet_id"], claim["tier"]): Fraction(claim["amount"]) for claim in figures["entitlements"]}
    return Basis(meter, Decimal(figures["weight"]), figures.get("policy", ""), claims.get((bet_id, tier)))
