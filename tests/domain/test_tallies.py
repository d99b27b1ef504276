"""What a settlement adds to its day is what it posts and what was bet, told apart by more than postings are."""

from collections import defaultdict
from fractions import Fraction

from hypothesis import given

from jackpot_service.domain import tallies
from jackpot_service.domain.accounts import HOUSE_ADJUSTMENTS, HOUSE_MARGIN, METER_PLAYERS, PRIZE_FUND, RESERVE
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.tallies import Tally
from tests.properties.profile import repeatable
from tests.properties.settling import Round, rounds

ACCOUNTS = {
    "meter": METER_PLAYERS,
    "reserve": RESERVE,
    "prize_fund": PRIZE_FUND,
    "house": HOUSE_MARGIN,
    "adjustments": HOUSE_ADJUSTMENTS,
}


def tally_of(round_: Round) -> Tally:
    return tallies.of_settlement(round_.settled(), round_.bets, terms=round_.terms, won_since=round_.won_since)


@repeatable
@given(rounds())
def test_refunds_come_to_what_their_postings_do_and_count_every_dead_bet(round_: Round) -> None:
    refunds, sheet, base = tally_of(round_).refunds, round_.terms.sheet, round_.terms.sheet.base
    reversed_ = [line for line in round_.settled().postings.lines if line.movement is Movement.REVERSAL]

    for part, account in ACCOUNTS.items():
        posted = sum(Fraction(line.amount) for line in reversed_ if line.account == account and line.currency == base)
        assert sum(Fraction(getattr(refund, part)) for refund in refunds) == -posted
    for refund in refunds:
        parts = sum(Fraction(getattr(refund, part)) for part in ACCOUNTS)
        assert parts == Fraction(refund.value) == Fraction(sheet.base_value(refund.stakes_minor, refund.currency))
    assert sum(refund.bets for refund in refunds) == len(round_.verdict.dead)
    assert sum(refund.stakes_minor for refund in refunds) == sum(bet.stake_minor for bet in round_.verdict.dead)


@repeatable
@given(rounds())
def test_awards_come_to_what_their_pools_paid(round_: Round) -> None:
    awards, sums = round_.settled().awards, tally_of(round_).awards

    for fund in FundedBy:
        cost = sum(Fraction(award.cost) for award in awards if award.funded_by is fund)
        assert sum(Fraction(one.cost) for one in sums if one.funded_by is fund) == cost
    assert sum(one.awards for one in sums) == len(awards)
    assert sum(one.amount_minor for one in sums) == sum(award.amount_minor for award in awards)
    keys = [one[:4] for one in sums]
    assert sorted(set(keys)) == keys
    assert set(keys) == {(one.tier, one.funded_by, one.bet.currency, one.state) for one in awards}


@repeatable
@given(rounds())
def test_a_hand_counts_once_with_all_that_stands_on_it(round_: Round) -> None:
    dead = {bet.bet_id for bet in round_.verdict.dead}
    on_hand = defaultdict[str, Fraction](Fraction)
    for bet in round_.bets:
        if bet.bet_id not in dead:
            on_hand[bet.hand] += Fraction(round_.terms.sheet.base_value(bet.stake_minor, bet.currency))

    hands = tally_of(round_).hands

    assert len(hands) == bool(on_hand)
    for one in hands:
        assert one.hands == len(on_hand)
        assert Fraction(one.value) == sum(on_hand.values())
        assert Fraction(one.squares) == sum(value**2 for value in on_hand.values())
