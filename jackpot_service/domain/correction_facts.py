"""What a correction records, as `facts` writes everything else: by name, since it is also what people compare."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from jackpot_service.domain.accounts import Account
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.corrections import Correction
from jackpot_service.domain.facts import Facts, of_entitlements, of_postings, of_result
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.past_verdicts import VerdictInForce
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.settlement import Award


def of_past_award(award: Award, *, correction: int) -> Facts:
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


def of_verdict_in_force(verdict: VerdictInForce) -> Facts:
    """The verdict that a correction replaces, with every award of the round that had not been taken back."""
    return {
        "number": verdict.number,
        "result": of_result(verdict.result),
        "meter": plain(verdict.meter),
        "awards": [
            of_past_award(past.award, correction=past.correction)
            for past in verdict.awards
            if past.award.state is not AwardState.REVERSED
        ],
        "borne": _borne(verdict.borne),
    }


def of_correction(
    correction: Correction, round_: Round, result: Result, *, cycle: int, positions: Sequence[int]
) -> Facts:
    """Another verdict on a settled round: its result, its figures, the awards it made and those it took back."""
    return {
        "table_id": round_.table_id,
        "round_id": round_.round_id,
        "round_key": round_.round_key,
        "number": correction.number,
        "result": of_result(result),
        "cycle": cycle,
        "positions": list(positions),
        "meter": plain(correction.meter),
        "weight": plain(correction.weight),
        "entitlements": of_entitlements(correction.entitlements),
        "awards": [of_past_award(award, correction=correction.number) for award in correction.awards],
        "reversed": [of_past_award(past.award, correction=past.correction) for past in correction.reversed_awards],
        "refunds": [bet.bet_id for bet in correction.refunds],
        "borne": _borne(correction.borne),
        "house_seed": plain(correction.house_seed),
        "meter_after": plain(correction.meter_after),
        "reserve_after": plain(correction.reserve_after),
        "prize_fund_after": plain(correction.prize_fund_after),
    }


def with_postings(recorded: Facts, postings: Postings) -> Facts:
    """What an act shows of a correction: what its entry recorded, and what it booked, line by line."""
    return {**recorded, "postings": of_postings(postings)}


def _borne(amounts: Mapping[Account, Decimal]) -> Facts:
    return {account: plain(amount) for account, amount in sorted(amounts.items()) if amount}
