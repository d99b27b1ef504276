"""
A correction of a settled round: its right result, as its table server should have sent it.

The round is judged anew and paid for by a further entry; nothing is rewritten.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from marshmallow import fields, validate

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import held_awards
from jackpot_service.domain.accounts import Account, Pools
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, BookedBet
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.corrections import Correction, VerdictInForce, charged_to_pools, correct
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.facts import Facts, facts_of_entitlements, facts_of_postings, facts_of_result, result_of
from jackpot_service.domain.figures import figures_of_correction
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import require_not_retired
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Result, require_hands_of_one_deck
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier, met_requirement, requirement_of
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.settlement import Award, Terms
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.ledger import replay
from jackpot_service.ledger.books import Books
from jackpot_service.records import awards, corrections, lives, manual_payments, payout_tiers, rounds, verdicts
from jackpot_service.records import bets as bet_records
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import jackpot_acts, round_terms
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.compensation import compensated
from jackpot_service.usecases.changes.kinds import RoundKind
from jackpot_service.usecases.fields import BoundedList, Whole
from jackpot_service.usecases.payloads import Cards, HandSchema, Payload, hands_of
from jackpot_service.usecases.settle_round import require_count

MOST_HANDS = 60
"""Far more than one deck can deal; and each of them may be dead, without cards."""


class RoundNotSettled(Conflict, code="round-not-settled", title="The round is not settled"):
    """The round has no verdict: it is open, or it was cancelled."""


class ResultPayload(Payload):
    """A result as a table server sends it, without its time."""

    @staticmethod
    def makes(bet_count: int, hands: Sequence[Mapping[str, Any]], dealer: Any) -> Result:  # noqa: ANN401  cards
        """Make the domain's result."""
        return Result(bet_count, hands_of(hands), dealer)

    bet_count = Whole(most=LARGEST_MINOR, required=True)
    hands = BoundedList(
        fields.Nested(HandSchema()), most=lambda: MOST_HANDS, required=True, validate=validate.Length(min=1)
    )
    dealer = Cards(load_default=())


class BetCompensated(Conflict, code="bet-compensated", title="The bet was compensated"):
    """The right result awards a bet that was granted a compensation: the compensation has to be taken back first."""


@dataclass(frozen=True, slots=True)
class SettledRound:
    """
    A settled round as its correction sees it: its live bets, the verdict in force, and its jackpot.

    `won_since` are the bets whose cycle was won since they were booked; the pools are those at the positions. `made_on`
    is the UTC day on which each verdict before was booked, by its number. `compensated` are the bets with a grant.
    `tiers` are the payout tiers of the cycle in which it was settled, `evidence` the kinds that were recorded.
    """

    round: Round
    live: Sequence[Bet]
    in_force: VerdictInForce
    terms: Terms
    pools: Pools
    positions: Sequence[int]
    won_since: frozenset[str]
    made_on: Mapping[int, date]
    compensated: frozenset[str]
    tiers: Sequence[PayoutTier]
    evidence: Collection[Evidence]


def decide(state: SettledRound, result: Result) -> tuple[Correction, Done]:
    """
    Give a settled round another verdict, made from the right result under the round's own rules and rates.

    Raises: BadHands, CardRepeated, HandMissing, NothingToCorrect, StopInForce, BetCompensated, EvidenceMissing.
    """
    correction = _correction(state, result)
    paid_twice = sorted(state.compensated.intersection(award.bet.bet_id for award in correction.awards))
    if paid_twice:
        message = f"Bets {', '.join(paid_twice)} were compensated: take that back first."
        raise BetCompensated(message, bet_ids=paid_twice)
    subject = f"round {state.round.table_id}/{state.round.round_id}"
    requirement = met_requirement(state.tiers, correction.awards, state.evidence, subject=subject)
    recorded = {**_facts_of(correction, state, result), "requirement": held_awards.facts_of_requirement(requirement)}
    after = {**recorded, "postings": facts_of_postings(correction.postings)}
    before = _facts_of_verdict(state.in_force)
    figures = figures_of_correction(correction, terms=state.terms, won_since=state.won_since, made_on=state.made_on)
    of = Attribution.of(state.round)
    return correction, Done(EntryKind.ROUND_CORRECTED, before, recorded, correction.postings, after, figures, of)


def _correction(state: SettledRound, result: Result) -> Correction:
    try:
        require_hands_of_one_deck(result.hands, result.dealer)
        return correct(
            state.live,
            result,
            state.in_force,
            terms=state.terms,
            pools=state.pools,
            won_since=state.won_since,
        )
    except Refused as error:
        error.field_errors = tuple(replace(at, pointer=f"/payload/result{at.pointer}") for at in error.field_errors)
        raise


@dataclass(frozen=True, kw_only=True)
class CorrectRound(RoundKind[SettledRound]):
    """A settled round is judged anew, by its right result."""

    name = "round-correction"
    acts: ClassVar = {EntryKind.ROUND_CORRECTED: "jackpot.round.corrected"}
    policy = MONEY_BY_HAND

    result: Annotated[Result, fields.Nested(ResultPayload())]

    @classmethod
    def stated(cls, payload: object) -> Mapping[str, Any]:
        """Return the round and its right result."""
        request = cls.read(payload)
        return {**request.round_ids, "result": facts_of_result(request.result)}

    def version(self, session: Session) -> str:
        """
        Name the state on which a correction is based, and keep it until the commit.

        It changes with every correction of the round, with every step of its awards, and with every hit: not with bets.

        Raises: UnknownRound, RoundNotSettled.
        """
        round_ = _settled(session, self)
        cycle = jackpot_acts.hold_books(session, self.jackpot_id).cycle.cycle
        return f"{corrections.count(session, round_)}.{corrections.count_steps(session, round_)}.{cycle}"

    def approvals_due(self, session: Session) -> int:
        """Say how many people the payout tiers ask for that the new awards reach."""
        state = self._settled_round(session)
        return requirement_of(state.tiers, _correction(state, self.result).awards).approvals

    def state(self, session: Session, _act: Act) -> SettledRound:
        """
        Lock all stripes of the jackpot, and read the round.

        The round needs no lock: once it is settled, nothing but an act changes anything about it.

        Raises: UnknownRound, RoundNotSettled, JackpotRetired, BetCountMismatch.
        """
        return self._settled_round(session)

    def _settled_round(self, session: Session) -> SettledRound:
        round_ = _settled(session, self)
        held = jackpot_acts.hold_books(session, self.jackpot_id)
        require_not_retired(self.jackpot_id, lives.life_of(session, self.jackpot_id, is_accepting=held.is_accepting))
        live = _live(session, self.jackpot_id, self.round_name)
        require_count(self.result.bet_count, live, name=self.round_name)
        return _state(session, round_, live, held)

    def decide(self, state: SettledRound) -> Done:
        """Give the round another verdict. Raises: as `decide` of the module."""
        correction, done = decide(state, self.result)
        return replace(done, document=correction)

    def write(self, session: Session, act: Act, act_seq: int, state: SettledRound, done: Done) -> None:
        """Write the correction, its awards and those it takes back."""
        corrections.add(session, state.round, done.document, act_seq=act_seq, now=act.now)


def _settled(session: Session, request: CorrectRound) -> Round:
    round_ = rounds.require(session, request.jackpot_id, request.round_name)
    if round_.state is not RoundState.SETTLED:
        message = f"Round {round_.round_id} of table {round_.table_id} is {round_.state}: it has no verdict to correct."
        raise RoundNotSettled(message, table_id=round_.table_id, round_id=round_.round_id, state=round_.state.value)
    return round_


def _live(session: Session, jackpot_id: str, name: RoundName) -> tuple[BookedBet, ...]:
    with pipelined(session) as pipe:
        cursor = bet_records.send_of_round(pipe, jackpot_id, name)
    return tuple(booked_bet for booked_bet in bet_records.booked_of(cursor) if not booked_bet.is_void)


def _state(session: Session, round_: Round, live: Sequence[BookedBet], held: Books) -> SettledRound:
    with pipelined(session) as pipe:
        cursor = bet_records.send_places(pipe, round_)
    return SettledRound(
        round_,
        [booked_bet.bet for booked_bet in live],
        _in_force(session, round_, running=held.cycle.cycle),
        round_terms.terms(session, round_, held.cycle),
        held.pools,
        held.positions,
        round_terms.won_since(live, held.cycle, bet_records.places_of(cursor)),
        awards.made_on(session, round_.jackpot_id, round_.round_key),
        compensated(manual_payments.compensations_of(session, round_)),
        tiers=payout_tiers.tiers_of_round(session, round_),
        evidence={evidence.kind for evidence in payout_tiers.evidence_of(session, round_)},
    )


def _in_force(session: Session, round_: Round, *, running: int) -> VerdictInForce:
    with pipelined(session) as pipe:
        cursor = verdicts.send_ending(pipe, round_)
    recorded = verdicts.ending_of(cursor)
    entries = replay.entries_of_rounds(session, round_.jackpot_id, after=round_.round_key - 1, upto=round_.round_key)
    settled = entries[-1]
    first = VerdictInForce(
        number=0,
        result=result_of(recorded["result"]),
        meter=Decimal(recorded["settlement"]["meter_before"]),
        awards=corrections.past_awards(session, round_),
        charged_to=charged_to_pools(settled.lines),
        its_meter_runs=recorded["settlement"]["cycle_after"] == running,
    )
    return corrections.in_force(first, corrections.last(session, round_))


def _facts_of_verdict(verdict: VerdictInForce) -> Facts:
    """The verdict that a correction replaces, with every award of the round that had not been taken back."""
    return {
        "number": verdict.number,
        "result": facts_of_result(verdict.result),
        "meter": plain(verdict.meter),
        "awards": [
            _facts_of_award(past.award, correction=past.correction)
            for past in verdict.awards
            if past.award.state is not AwardState.REVERSED
        ],
        "charged_to": _charged_to(verdict.charged_to),
    }


def _facts_of(correction: Correction, state: SettledRound, result: Result) -> Facts:
    """Another verdict on a settled round: its result, its figures, the awards it made and those it took back."""
    return {
        "table_id": state.round.table_id,
        "round_id": state.round.round_id,
        "round_key": state.round.round_key,
        "number": correction.number,
        "result": facts_of_result(result),
        "cycle": state.terms.cycle,
        "positions": list(state.positions),
        "meter": plain(correction.meter),
        "weight": plain(correction.weight),
        "entitlements": facts_of_entitlements(correction.entitlements),
        "awards": [_facts_of_award(award, correction=correction.number) for award in correction.awards],
        "reversed": [_facts_of_award(past.award, correction=past.correction) for past in correction.reversed_awards],
        "refunds": [bet.bet_id for bet in correction.refunds],
        "charged_to": _charged_to(correction.charged_to),
        "house_seed": plain(correction.house_seed),
        "meter_after": plain(correction.meter_after),
        "reserve_after": plain(correction.reserve_after),
        "prize_fund_after": plain(correction.prize_fund_after),
    }


def _facts_of_award(award: Award, *, correction: int) -> Facts:
    """An award in the state it is in; `correction` is the verdict that made it."""
    return {
        "bet_id": award.bet.bet_id,
        "tier": str(award.tier),
        "amount_minor": award.amount_minor,
        "currency": award.bet.currency,
        "cost": plain(award.cost),
        "funded_by": str(award.funded_by),
        "state": str(award.state),
        "correction": correction,
    }


def _charged_to(amounts: Mapping[Account, Decimal]) -> Facts:
    return {account: plain(amount) for account, amount in sorted(amounts.items()) if amount}
