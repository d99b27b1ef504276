"""The money of a round: where its stakes went, and how each award of each of its verdicts was arrived at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from jackpot_service.domain import facts, outcomes
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS
from jackpot_service.domain.allocation import Contribution, contribute, stakes_by_currency
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.cards import Card
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import POOL_DECIMALS, ZERO, Rate, from_minor
from jackpot_service.domain.outcomes import Hand, HandStatus, tier_of
from jackpot_service.domain.payoffs import Basis, payoff_of
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import RoundState
from jackpot_service.domain.rules import FundedBy, JackpotRules
from jackpot_service.domain.statistics import rounded_down
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.reports.rounds import RoundRecord


@dataclass(frozen=True, slots=True)
class Quotient:
    """The result of a division, rounded down to 18 decimals, and whether that is all of it."""

    rounded: Decimal
    is_exact: bool

    @classmethod
    def of(cls, number: Fraction) -> "Quotient":
        """Round a number that is not negative."""
        rounded = rounded_down(number, POOL_DECIMALS)
        return cls(rounded, Fraction(rounded) == number)


@dataclass(frozen=True, slots=True)
class CalculatedAward:
    """
    An award, and the exact amount that was due for it, in units of its own currency, before it was rounded down.

    `before_rounding` is that amount, and `stake` is in units of the same currency. `entitled` is the part of the meter
    that its hand was entitled to, in the base currency. It is None where the round shares, and of a multiple of the
    stake. `paid_before_minor` is how much of what was due its bet had been paid when a correction made the award; the
    award is the rest.
    """

    award: BookedAward
    rate: Rate
    stake: Decimal
    formula: str
    before_rounding: Quotient
    entitled: Quotient | None
    paid_before_minor: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    A verdict on a round, as it was recorded: its settlement, of number 0, or a correction.

    Amounts are in the base currency. `meter` is M and `weight` W; `share` is M / W where the bettors shared, otherwise
    None. `awards` are those that it made: a correction makes only what was not paid before. `pays_from_meter` is
    whether a hand won a part of the meter, and `meter_cost` what the meter was charged for all that is due.
    `carried`, `overflow` and `cycle_after` are a settlement's alone, and `reversed_awards` a correction's: each is a
    bet, a tier, minor units and their currency.
    """

    number: int
    hands: tuple[Hand, ...]
    dealer: tuple[Card, ...]
    tiers: Mapping[str, Tier | None]
    policy: str
    meter: Decimal
    weight: Decimal
    share: Quotient | None
    pays_from_meter: bool
    awards: tuple[CalculatedAward, ...]
    refunds: frozenset[str]
    meter_cost: Decimal
    meter_after: Decimal
    house_seed: Decimal
    carried: Decimal | None = None
    overflow: Decimal = ZERO
    cycle_after: int | None = None
    reversed_awards: tuple[Facts, ...] = ()

    @property
    def is_hit(self) -> bool:
        """Whether it is a settlement that ended the cycle."""
        return self.carried is not None

    @property
    def from_meter(self) -> tuple[CalculatedAward, ...]:
        """Its awards that the meter paid."""
        return tuple(award for award in self.awards if award.award.funded_by == FundedBy.METER)


@dataclass(frozen=True, slots=True)
class RoundCalculation:
    """
    The verdicts on a round, the settlement first, and the parts of its stakes.

    `stakes` are those of live bets that no verdict in force refunds; a cancelled round has none. `staying` counts them.
    """

    verdicts: tuple[Verdict, ...]
    stakes: Contribution
    staying: int

    @property
    def in_force(self) -> Verdict | None:
        """The last verdict; None while there is none."""
        return self.verdicts[-1] if self.verdicts else None


def calculation_of(record: RoundRecord) -> RoundCalculation:
    """Figure the parts of a round's stakes, and its awards before rounding, from its record."""
    verdicts = tuple(_verdicts(record))
    refunded = verdicts[-1].refunds if verdicts else frozenset()
    is_cancelled = record.view.round.state is RoundState.CANCELLED
    staying = [
        booked.bet for booked in record.bets if not (booked.is_void or is_cancelled or booked.bet.bet_id in refunded)
    ]
    stakes = contribute(stakes_by_currency(staying), split=record.rules.split, sheet=record.sheet)
    return RoundCalculation(verdicts, stakes, len(staying))


def _verdicts(record: RoundRecord) -> Iterable[Verdict]:
    settlement = record.ending.get("settlement")
    if settlement is None:
        return
    meter = Decimal(settlement["meter_before"])
    yield _verdict(
        record,
        settlement,
        result=record.ending["result"],
        meter=meter,
        awards=record.awards,
        meter_cost=sum((award.cost for award in record.awards if award.funded_by == FundedBy.METER), ZERO),
        number=0,
        carried=None if settlement["carried"] is None else Decimal(settlement["carried"]),
        overflow=Decimal(settlement["overflow"]),
        cycle_after=settlement["cycle_after"],
    )
    for correction in record.corrections:
        after = correction.act.after
        yield _verdict(
            record,
            after,
            result=after["result"],
            meter=Decimal(after["meter"]),
            awards=correction.awards,
            meter_cost=sum((Decimal(after["charged_to"].get(part, 0)) for part in (METER_PLAYERS, METER_HOUSE)), ZERO),
            number=correction.number,
            reversed_awards=tuple(after["reversed"]),
        )


def _verdict(
    record: RoundRecord,
    figures: Facts,
    *,
    result: Facts,
    meter: Decimal,
    awards: Sequence[BookedAward],
    **more: Any,  # noqa: ANN401  the members that only one kind of verdict has
) -> Verdict:
    hands, weight = facts.hands_of(result["hands"]), Decimal(figures["weight"])
    claims = {(claim["bet_id"], claim["tier"]): Fraction(claim["amount"]) for claim in figures["entitlements"]}
    policy = figures.get("policy", record.rules.policy)
    bets = {booked.bet.bet_id: booked.bet for booked in record.bets}
    basis = Basis(meter, weight, policy)
    calculated = tuple(_calculated(award, bets[award.bet_id], basis, claims, record) for award in awards)
    live = [booked.bet for booked in record.bets if not booked.is_void]
    judged = outcomes.judge(live, hands, record.rules)
    shares = record.rules.is_shared and judged.is_hit
    return Verdict(
        hands=hands,
        dealer=tuple(map(Card, result["dealer"])),
        tiers={hand.hand: _tier(hand, record.rules) for hand in hands},
        policy=policy,
        meter=meter,
        weight=weight,
        share=Quotient.of(Fraction(meter) / Fraction(weight)) if shares and weight else None,
        pays_from_meter=judged.pays_from_meter,
        awards=calculated,
        refunds=frozenset(figures["refunds"]),
        meter_after=Decimal(figures["meter_after"]),
        house_seed=Decimal(figures["house_seed"]),
        **more,
    )


def _tier(hand: Hand, rules: JackpotRules) -> Tier | None:
    return tier_of(hand.cards, rules) if hand.status is HandStatus.DEALT else None


def _calculated(
    award: BookedAward,
    bet: Bet,
    basis: Basis,
    claims: Mapping[tuple[str, str], Fraction],
    record: RoundRecord,
) -> CalculatedAward:
    rate = record.sheet.rate(award.currency)
    stake = from_minor(bet.stake_minor, rate.exponent)
    entitled = None if record.rules.is_shared else claims.get((award.bet_id, award.tier))
    own = Basis(basis.meter, basis.weight, basis.policy, entitled)
    payoff = payoff_of(Tier(award.tier), award.funded_by, own, record.rules, stake=stake, rate=rate.base_per_unit)
    return CalculatedAward(
        award=award,
        rate=rate,
        stake=stake,
        formula=payoff.formula,
        before_rounding=Quotient.of(payoff.due),
        entitled=None if entitled is None else Quotient.of(entitled),
        paid_before_minor=int(payoff.due * 10**rate.exponent) - award.amount_minor,
    )
