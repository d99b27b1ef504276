"""What an entry comes to is what it posts and what was bet, told apart by more than postings are."""

from collections import Counter, defaultdict
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
    return [figure for figure in made if figure.kind in kinds]


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
        sum(Fraction(figure.value) for figure in refunds if figure.kind is kind)
        for kind in (FigureKind.LATE_REFUNDS, FigureKind.REFUNDS)
    )
    meter, reserve, prize_fund = map(Fraction, (split.meter, split.reserve, split.prize_fund))
    assert posted(METER_PLAYERS) == other * meter
    assert posted(RESERVE) == other * reserve
    assert posted(PRIZE_FUND) == (late + other) * prize_fund
    assert posted(HOUSE_MARGIN) == (late + other) * (1 - meter - reserve - prize_fund)
    assert posted(HOUSE_ADJUSTMENTS) == late * (meter + reserve)
    for figure in refunds:
        assert figure.value == sheet.base_value(figure.minor, figure.currency)
    assert sum(figure.number for figure in refunds) == len(round_.verdict.refunded)
    assert sum(figure.minor for figure in refunds) == sum(bet.stake_minor for bet in round_.verdict.refunded)


@repeatable
@given(rounds())
def test_awards_come_to_what_their_pools_paid(round_: Round) -> None:
    awards, sums = round_.settled().awards, figures_of(round_, FigureKind.AWARDS)

    for fund in FundedBy:
        cost = sum(Fraction(award.cost) for award in awards if award.funded_by is fund)
        assert sum(Fraction(figure.value) for figure in sums if figure.account == fund) == cost
    assert sum(figure.number for figure in sums) == len(awards)
    assert sum(figure.minor for figure in sums) == sum(award.amount_minor for award in awards)
    keys = [(figure.tier, figure.account, figure.currency, figure.detail) for figure in sums]
    assert sorted(set(keys)) == keys
    assert set(keys) == {(award.tier, award.funded_by, award.bet.currency, award.state) for award in awards}


@repeatable
@given(rounds())
def test_a_hand_counts_once_with_all_that_stands_on_it(round_: Round) -> None:
    dead = {bet.bet_id for bet in round_.verdict.refunded}
    on_hand = defaultdict[str, Fraction](Fraction)
    for bet in round_.bets:
        if bet.bet_id not in dead:
            on_hand[bet.hand] += Fraction(round_.terms.sheet.base_value(bet.stake_minor, bet.currency))

    for kind, power in ((FigureKind.HANDS, 1), (FigureKind.SQUARES, 2)):
        figures_ = figures_of(round_, kind)
        assert len(figures_) == bool(on_hand)
        for figure in figures_:
            assert figure.number == len(on_hand)
            assert Fraction(figure.value) == sum(value**power for value in on_hand.values())


@repeatable
@given(values.bets(), values.splits(), values.sheets())
def test_a_batch_is_told_apart_by_currency_to_the_last_digit(bets: list[Bet], split: Split, sheet: RateSheet) -> None:
    together = contribute(stakes_by_currency(bets), split=split, sheet=sheet)
    apart = figures.figures_of_bets(together, Counter(bet.currency for bet in bets))
    for figure in apart:
        own = [bet for bet in bets if bet.currency == figure.currency]
        alone = contribute(stakes_by_currency(own), split=split, sheet=sheet)
        assert (figure.number, figure.minor) == (len(own), sum(bet.stake_minor for bet in own))
        assert Fraction(figure.value) == Fraction(alone.value)
    assert sum(Fraction(figure.value) for figure in apart) == Fraction(together.value)
