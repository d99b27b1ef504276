"""Splitting stakes: exact to the last digit, and the same however they are batched or ordered."""

import random
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import posting_rules
from jackpot_service.domain.allocation import Contribution, contribute, stakes_by_currency, weight
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rules import Split
from tests.properties import values
from tests.properties.profile import repeatable

PARTS = ("value", "meter", "reserve", "prize_fund", "house")


def fractions_of(contribution: Contribution) -> list[Fraction]:
    return [Fraction(getattr(contribution, part)) for part in PARTS]


def value_of(amount_minor: int, currency: str, sheet: RateSheet) -> Fraction:
    rate = sheet.rates[currency]
    return Fraction(amount_minor, 10**rate.exponent) * Fraction(rate.base_per_unit)


@repeatable
@given(values.stakes(), values.splits(), values.sheets())
def test_every_part_is_exactly_its_share_and_together_they_are_the_stakes(
    stakes: dict[str, int], split: Split, sheet: RateSheet
) -> None:
    value, *parts = fractions_of(contribute(stakes, split=split, sheet=sheet))
    assert value == sum(value_of(amount, currency, sheet) for currency, amount in stakes.items())
    assert parts[:3] == [value * Fraction(part) for part in (split.meter, split.reserve, split.prize_fund)]
    assert sum(parts) == value
    assert parts[3] >= 0


@repeatable
@given(values.bets(), values.splits(), values.sheets())
def test_a_batch_contributes_what_its_bets_contribute(bets: list[Bet], split: Split, sheet: RateSheet) -> None:
    alone = [contribute(stakes_by_currency([bet]), split=split, sheet=sheet) for bet in bets]
    together = contribute(stakes_by_currency(bets), split=split, sheet=sheet)
    assert fractions_of(together) == [sum(column) for column in zip([0] * 5, *map(fractions_of, alone), strict=True)]


@repeatable
@given(values.bets(), values.sheets(), st.randoms(use_true_random=False))
def test_the_order_of_bets_does_not_matter(bets: list[Bet], sheet: RateSheet, chance: random.Random) -> None:
    shuffled = chance.sample(bets, len(bets))
    assert list(stakes_by_currency(shuffled).items()) == list(stakes_by_currency(bets).items())
    assert Fraction(weight(shuffled, sheet)) == sum(value_of(bet.stake_minor, bet.currency, sheet) for bet in bets)


@repeatable
@given(values.stakes(), values.splits(), values.sheets(), st.data())
def test_a_reversal_books_a_contribution_back(
    stakes: dict[str, int], split: Split, sheet: RateSheet, data: st.DataObject
) -> None:
    contribution = contribute(stakes, split=split, sheet=sheet)
    cycle_is_over = data.draw(st.booleans())
    booked = posting_rules.for_contribution(contribution, casino_id="c1", sheet=sheet)
    back = posting_rules.for_reversal(contribution, casino_id="c1", sheet=sheet, cycle_is_over=cycle_is_over)
    sums: dict[tuple[str, str], Fraction] = {}
    for line in (booked + back).lines:
        place = (line.account, line.currency)
        sums[place] = sums.get(place, Fraction(0)) + Fraction(line.amount)
    left = Fraction(contribution.meter + contribution.reserve) if cycle_is_over else Fraction(0)
    assert sums.pop(("house:adjustments", "EUR"), Fraction(0)) == -left
    assert sum(sums.values()) == left
    assert all(not amount for place, amount in sums.items() if not place[0].startswith("pool:"))
