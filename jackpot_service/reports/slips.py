"""The slip of an award: the calculation from the stake to the amount, the evidence, and what was paid of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.cards import Card
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.facts import Facts, result_of
from jackpot_service.domain.money import Rate, from_minor
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.payoffs import Basis, Payoff, payoff_of
from jackpot_service.domain.payout_tiers import Requirement, requirement_of
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rounds import Round
from jackpot_service.records import (
    awards,
    bets,
    corrections,
    immutable,
    payout_tiers,
    references,
    rounds,
    slips,
    verdicts,
)
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.payout_tiers import RecordedEvidence
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.slips import SlipPrint


class UnknownSlip(NotFound, code="slip-unknown", title="Unknown slip"):
    """The slip of this award was never printed."""


@dataclass(frozen=True, slots=True)
class Slip:
    """
    An award with the figures that it was made of, as its slip shows them.

    `booked_at` is when the verdict that made it was booked. `rate` is that of the round's own sheet. `payoff` is exact:
    the award is that, rounded down to a minor unit of its currency, less what an earlier verdict had paid for it.
    """

    record: AwardRecord
    printed: SlipPrint
    casino: str
    round: Round
    booked_at: datetime
    base: str
    stake_minor: int
    rate: Rate
    cards: Sequence[Card]
    basis: Basis
    payoff: Payoff
    requirement: Requirement
    evidence: Sequence[RecordedEvidence]


def slip_of(session: Session, principal: Principal, award_id: str, *, copy: int | None = None) -> Slip:
    """
    Read the slip of an award, with what was paid of it by now, as it was printed last, or as a copy of it was.

    Raises: UnknownAward, also for another casino's; UnknownSlip.
    """
    record = awards.visible(session, principal, award_id)
    printed = slips.last_print(session, record, copy=copy)
    if printed is None:
        message = f"The slip of award {award_id} was never printed."
        raise UnknownSlip(message, award_id=award_id)
    round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
    base = references.require_base(session, record.jackpot_id)
    sheet = immutable.sheet(session, base, round_.rate_sheet)
    rules = immutable.rules(session, record.jackpot_id, round_.rules_version)
    award, rate = record.award, sheet.rate(record.award.currency)
    verdict = _verdict(session, record, round_)
    basis = _basis(verdict.figures, award.bet_id, award.tier)
    stake_minor = _stake_of(session, round_, award.bet_id)
    stake = from_minor(stake_minor, rate.exponent)
    casino = references.casino(session, record.casino_id)
    return Slip(
        record=record,
        printed=printed,
        casino=record.casino_id if casino is None else casino.name,
        round=round_,
        booked_at=verdict.booked_at,
        base=base,
        stake_minor=stake_minor,
        rate=rate,
        cards=next(hand.cards for hand in verdict.result.hands if hand.hand == award.hand),
        basis=basis,
        payoff=payoff_of(Tier(award.tier), award.funded_by, basis, rules, stake=stake, rate=rate.base_per_unit),
        requirement=requirement_of(payout_tiers.tiers_of_round(session, round_), [awards.made(award)]),
        evidence=payout_tiers.evidence_of(session, round_),
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


def _stake_of(session: Session, round_: Round, bet_id: str) -> int:
    with pipelined(session) as pipe:
        cursor = bets.send_of_round(pipe, round_.jackpot_id, RoundName(round_.table_id, round_.round_id))
    return next(booked_bet.bet.stake_minor for booked_bet in bets.booked_of(cursor) if booked_bet.bet.bet_id == bet_id)
