"""Settling a round: money is conserved, nothing is promised that is not there, and no order matters."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.allocation import contribute, stakes_by_currency, weight
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.journal import Postings
from jackpot_service.domain.outcomes import Hand
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.settlement import Settlement, reverse, settle
from tests.properties.profile import repeatable
from tests.properties.settling import Round, rounds


def cost(settlement: Settlement, funded_by: FundedBy) -> Fraction:
    return sum((Fraction(award.cost) for award in settlement.awards if award.funded_by is funded_by), Fraction(0))


def moved(settlement: Settlement, account: str) -> Fraction:
    return sum((Fraction(line.amount) for line in settlement.postings.lines if line.account == account), Fraction(0))


def after(round_: Round, settlement: Settlement) -> Pools:
    return round_.pools + settlement.postings.pools()


@repeatable
@given(rounds())
def test_what_is_taken_from_the_pools_is_paid_refunded_held_or_the_houses(round_: Round) -> None:
    settlement = round_.settled()
    sums: defaultdict[str, Fraction] = defaultdict(Fraction)
    for line in settlement.postings.lines:
        sums[line.currency] += Fraction(line.amount)
    assert not any(sums.values())

    paid: Counter[str] = Counter()
    for award in settlement.awards:
        if award.state is AwardState.PAYABLE:
            paid[award.bet.currency] += award.amount_minor
    for bet in settlement.refunds:
        paid[bet.currency] += bet.stake_minor
    for currency, rate in round_.terms.sheet.rates.items():
        booked = [
            line for line in settlement.postings.lines if (line.account, line.currency) == ("casino:c1", currency)
        ]
        assert sum(Fraction(line.amount) for line in booked) == Fraction(paid[currency], 10**rate.exponent)
    held = [Fraction(award.cost) for award in settlement.awards if award.state is AwardState.HELD]
    assert moved(settlement, "awards:held") == sum(held)
    assert moved(settlement, "house:seed") == -Fraction(settlement.house_seed)


@repeatable
@given(rounds())
def test_the_meter_falls_by_awards_and_refunds_only_and_rises_by_reserve_and_seed(round_: Round) -> None:
    settlement = round_.settled()
    refunded = [bet for bet in settlement.refunds if bet.bet_id not in round_.won_since]
    back = contribute(stakes_by_currency(refunded), split=round_.terms.rules.split, sheet=round_.terms.sheet)
    before, later = round_.pools, after(round_, settlement)
    reserve = Fraction(before.reserve) - Fraction(back.reserve)
    gained = Fraction(settlement.house_seed) + (reserve if round_.verdict.is_hit else 0)
    assert Fraction(later.meter) == (
        Fraction(before.meter) - Fraction(back.meter) - cost(settlement, FundedBy.METER) + gained
    )
    assert Fraction(later.reserve) == (0 if round_.verdict.is_hit else reserve)
    dead = contribute(stakes_by_currency(settlement.refunds), split=round_.terms.rules.split, sheet=round_.terms.sheet)
    assert Fraction(later.prize_fund) == (
        Fraction(before.prize_fund) - Fraction(dead.prize_fund) - cost(settlement, FundedBy.PRIZE_FUND)
    )


@repeatable
@given(rounds())
def test_on_offer_is_the_meter_after_refunds_within_the_running_cycles_limit(round_: Round) -> None:
    refunds = reverse(round_.verdict.refunded, terms=round_.terms, won_since=round_.won_since)
    with_refunds = round_.pools + refunds.pools()
    assert round_.settled().meter_before == with_refunds.on_offer(round_.terms.running.limit)


@repeatable
@given(rounds())
def test_awards_from_the_meter_never_exceed_what_is_on_offer(round_: Round) -> None:
    settlement = round_.settled()
    assert 0 <= cost(settlement, FundedBy.METER) <= Fraction(settlement.meter_before)
    assert sum(claim.amount for claim in settlement.entitlements) <= Fraction(settlement.meter_before)
    assert all(award.amount_minor > 0 for award in settlement.awards)


@repeatable
@given(rounds())
def test_an_award_is_less_than_one_minor_unit_below_what_is_due(round_: Round) -> None:
    settlement = round_.settled()
    paid = {(award.bet.bet_id, award.tier): award for award in settlement.awards if award.funded_by is FundedBy.METER}
    expected = {(claim.bet_id, claim.tier): claim.amount for claim in settlement.entitlements}
    if round_.terms.rules.is_shared and round_.verdict.is_hit:
        factor = Fraction(settlement.meter_before) / Fraction(settlement.weight)
        (royal, *_) = round_.terms.rules.prizes
        for bet in round_.verdict.in_play:
            value = Fraction(round_.terms.sheet.base_value(bet.stake_minor, bet.currency))
            expected[bet.bet_id, royal] = value * factor
    assert set(paid) <= set(expected)
    bets = {bet.bet_id: bet for bet in round_.bets}
    for (bet_id, tier), amount in expected.items():
        least = Fraction(round_.terms.sheet.base_value(1, bets[bet_id].currency))
        award = paid.get((bet_id, tier))
        payout = Fraction(0) if award is None else Fraction(award.cost)
        assert amount - least < payout <= amount


@repeatable
@given(rounds(), st.randoms(use_true_random=False))
def test_neither_the_order_of_bets_nor_of_hands_nor_of_cards_matters(round_: Round, chance: random.Random) -> None:
    hands = [Hand(hand.hand, hand.status, tuple(chance.sample(hand.cards, len(hand.cards)))) for hand in round_.hands]
    other = Round(
        chance.sample(round_.bets, len(round_.bets)),
        tuple(chance.sample(hands, len(hands))),
        round_.terms,
        round_.pools,
        round_.won_since,
    )
    assert other.settled() == round_.settled()


@repeatable
@given(rounds())
def test_a_hit_ends_the_cycle_and_nothing_else_does(round_: Round) -> None:
    settlement = round_.settled()
    later = after(round_, settlement)
    if round_.verdict.is_hit:
        assert settlement.cycle_after == 4
        assert settlement.carried is not None
        assert settlement.carried >= 0
        assert Fraction(settlement.carried) == Fraction(settlement.meter_before) - cost(settlement, FundedBy.METER)
        assert later.meter >= round_.terms.following.reset_amount
        assert later.reserve == 0
    else:
        assert settlement.cycle_after == 3
        assert settlement.carried is None
        assert settlement.overflow == 0
        if cost(settlement, FundedBy.METER):
            assert later.meter >= round_.terms.running.reset_amount


@repeatable
@given(rounds())
def test_where_nothing_is_won_and_nothing_refunded_no_money_moves(round_: Round) -> None:
    verdict = replace(round_.verdict, refunded=(), wins=(), pays_from_meter=False)
    settlement = settle(verdict, terms=round_.terms, pools=round_.pools, won_since=round_.won_since)
    assert settlement.postings == Postings()
    assert settlement.policy is round_.terms.rules.policy
    assert (settlement.awards, settlement.entitlements, settlement.refunds) == ((), (), ())
    assert (settlement.reserve_after, settlement.prize_fund_after) == (round_.pools.reserve, round_.pools.prize_fund)
    assert settlement.weight == weight(verdict.in_play, round_.terms.sheet)
    assert settlement.meter_before == settlement.meter_after == round_.pools.on_offer(round_.terms.running.limit)
    assert settlement.house_seed == settlement.overflow == 0
    assert settlement.carried is None
    assert settlement.cycle_after == 3


@repeatable
@given(rounds())
def test_the_settlement_says_what_the_pools_hold_afterwards(round_: Round) -> None:
    settlement = round_.settled()
    later = after(round_, settlement)
    terms = round_.terms.following if round_.verdict.is_hit else round_.terms.running
    assert settlement.meter_after == later.on_offer(terms.limit)
    assert (settlement.reserve_after, settlement.prize_fund_after) == (later.reserve, later.prize_fund)


@repeatable
@given(rounds())
def test_players_money_is_taken_first_and_never_below_zero_by_an_award(round_: Round) -> None:
    settlement = round_.settled()
    later = after(round_, settlement)
    if round_.verdict.pays_from_meter:
        assert later.meter_house >= 0
        assert later.meter_players >= min(Decimal(0), round_.pools.meter_players)
    else:
        assert later.meter_house == round_.pools.meter_house


@repeatable
@given(rounds())
def test_a_pools_awards_are_held_together_or_not_at_all(round_: Round) -> None:
    settlement = round_.settled()
    tiers = round_.terms.running.payout_tiers
    for funded_by in FundedBy:
        awards = [award for award in settlement.awards if award.funded_by is funded_by]
        is_held = any(
            award.cost >= tier.from_amount and (not tier.prizes or award.tier in tier.prizes)
            for award in awards
            for tier in tiers
        )
        assert {award.state for award in awards} <= {AwardState.HELD if is_held else AwardState.PAYABLE}
