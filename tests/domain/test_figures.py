"""What an entry comes to is what it posts and what was bet, told apart by more than postings are."""

from collections import defaultdict
from fractions import Fraction

from hypothesis import given

from jackpot_service.domain import figures
from jackpot_service.domain.accounts import (
    HOUSE_ADJUSTMENTS,
    HOUSE_MARGIN,
    METER_PLAYERS,
    PRIZE_FUND,
    RESERVE,
    Account,
)
from jackpot_service.domain.allocation import contribute, stakes_by_currency
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.figures import Figure, FigureKind
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rules import FundedBy, Split
from tests.properties import values
from tests.properties.profile import repeatable
from tests.properties.settling import Round, rounds


def figures_of(round_: Round, *kinds: FigureKind) -> list[Figure]:
    made = figures.figures_of_settlement(round_.settled(), round_.bets, terms=round_.terms, won_since=round_.won_since)
    return [one for one in made if one.kind in kinds]


@repeatable
@given(rounds())
def test_refunds_come_to_what_their_postings_do_and_count_every_dead_bet(round_: Round) -> None:
    refunds = figures_of(round_, FigureKind.REFUNDS, FigureKind.LATE_REFUNDS)
    sheet, split, base = round_.terms.sheet, round_.terms.rules.split, round_.terms.sheet.base
    reversed_ = [line for line in round_.settled().postings.lines if line.movement is Movement.REVERSAL]

    def posted(account: Account) -> Fraction:
        taken = (line for line in reversed_ if line.account == account and line.currency == base)
        return -sum((Fraction(line.amount) for line in taken), Fraction(0))

    late, other = (
        sum(Fraction(one.value) for one in refunds if one.kind is kind)
        for kind in (FigureKind.LATE_REFUNDS, FigureKind.REFUNDS)
    )
    meter, reserve, prize_fund = map(Fraction, (split.meter, split.reserve, split.prize_fund))
    assert posted(METER_PLAYERS) == other * meter
    assert posted(RESERVE) == other * reserve
    assert posted(PRIZE_FUND) == (late + other) * prize_fund
    assert posted(HOUSE_MARGIN) == (late + other) * (1 - meter - reserve - prize_fund)
    assert posted(HOUSE_ADJUSTMENTS) == late * (meter + reserve)
    for one in refunds:
        assert one.value == sheet.base_value(one.minor, one.currency)
    assert sum(one.number for one in refunds) == len(round_.verdict.refunded)
    assert sum(one.minor for one in refunds) == sum(bet.stake_minor for bet in round_.verdict.refunded)


@repeatable
@given(rounds())
def test_awards_come_to_what_their_pools_paid(round_: Round) -> None:
    awards, sums = round_.settled().awards, figures_of(round_, FigureKind.AWARDS)

    for fund in FundedBy:
        cost = sum(Fraction(award.cost) for award in awards if award.funded_by is fund)
        assert sum(Fraction(one.value) for one in sums if one.account == fund) == cost
    assert sum(one.number for one in sums) == len(awards)
    assert sum(one.minor for one in sums) == sum(award.amount_minor for award in awards)
    keys = [(one.tier, one.account, one.currency, one.detail) for one in sums]
    assert sorted(set(keys)) == keys
    assert set(keys) == {(one.tier, one.funded_by, one.bet.currency, one.state) for one in awards}


@repeatable
@given(rounds())
def test_a_hand_counts_once_with_all_that_stands_on_it(round_: Round) -> None:
    dead = {bet.bet_id for bet in round_.verdict.refunded}
    on_hand = defaultdict[str, Fraction](Fraction)
    for bet in round_.bets:
        if bet.bet_id not in dead:
            on_hand[bet.hand] += Fraction(round_.terms.sheet.base_value(bet.stake_minor, bet.currency))

    for kind, power in ((FigureKind.HANDS, 1), (FigureKind.SQUARES, 2)):
        told = figures_of(round_, kind)
        assert len(told) == bool(on_hand)
        for one in told:
            assert one.number == len(on_hand)
            assert Fraction(one.value) == sum(value**power for value in on_hand.values())


@repeatable
@given(values.bets(), values.splits(), values.sheets())
def test_a_batch_is_told_apart_by_currency_to_the_last_digit(bets: list[Bet], split: Split, sheet: RateSheet) -> None:
    together = contribute(stakes_by_currency(bets), split=split, sheet=sheet)
    apart = figures.figures_of_bets(together, [bet.currency for bet in bets])
    for one in apart:
        own = [bet for bet in bets if bet.currency == one.currency]
        alone = contribute(stakes_by_currency(own), split=split, sheet=sheet)
        assert (one.number, one.minor) == (len(own), sum(bet.stake_minor for bet in own))
        assert Fraction(one.value) == Fraction(alone.value)
    assert sum(Fraction(one.value) for one in apart) == Fraction(together.value)
