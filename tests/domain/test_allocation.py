"""Sharing the meter: never more than it holds, one factor for everybody, one rounding, in any order."""

import random
from decimal import Decimal
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.allocation import entitlements, payable_minor, shares_minor, weight
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.outcomes import Win
from jackpot_service.domain.prizes import FixedAmount, MeterPart, StakeMultiple, Tier
from jackpot_service.domain.rules import JackpotRules, Policy, as_document, from_document
from tests.properties import values
from tests.properties.profile import repeatable

OWNED = pytest.mark.parametrize("policy", values.OWNED)


def value(amount_minor: int, currency: str, sheet: RateSheet) -> Fraction:
    return Fraction(sheet.base_value(amount_minor, currency))


@st.composite
def wins(draw: st.DrawFn, rules: JackpotRules) -> list[Win]:
    """Winners with a token of 1.00 each, of any tiers that have a prize."""
    tiers = draw(st.lists(st.sampled_from(list(rules.prizes)), max_size=6))
    return [Win(Bet(f"b{number}", f"p{number}", "1", "EUR", 100), tier) for number, tier in enumerate(tiers)]


@repeatable
@given(values.bets(least=1), values.sheets(), values.amounts(0, 10**6))
def test_a_share_is_less_than_one_minor_unit_below_its_exact_figure(
    bets: list[Bet], sheet: RateSheet, meter: Decimal
) -> None:
    total = weight(bets, sheet)
    shares = shares_minor(bets, meter=meter, weight=total)
    for bet, share in zip(bets, shares, strict=True):
        exact = bet.stake_minor * Fraction(meter) / Fraction(total)
        assert exact - 1 < share <= exact
    assert sum(value(share, bet.currency, sheet) for bet, share in zip(bets, shares, strict=True)) <= Fraction(meter)


@repeatable
@given(values.bets(least=1), values.sheets(), values.amounts(0, 10**6), st.randoms(use_true_random=False))
def test_a_share_does_not_depend_on_the_order_of_bets(
    bets: list[Bet], sheet: RateSheet, meter: Decimal, chance: random.Random
) -> None:
    total = weight(bets, sheet)
    shuffled = chance.sample(bets, len(bets))
    first = dict(zip(bets, shares_minor(bets, meter=meter, weight=total), strict=True))
    assert dict(zip(shuffled, shares_minor(shuffled, meter=meter, weight=total), strict=True)) == first


@OWNED
@repeatable
@given(data=st.data(), meter=values.amounts(0, 10**5))
def test_entitlements_never_exceed_the_meter(policy: Policy, data: st.DataObject, meter: Decimal) -> None:
    rules = data.draw(values.rules(["cyber-caribbean-stud"], [policy]))
    sheet = data.draw(values.sheets())
    winners = data.draw(wins(rules))
    claims = entitlements(winners, meter=meter, prizes=rules.prizes, policy=policy, sheet=sheet)
    assert all(claim >= 0 for claim in claims)
    assert sum(claims) <= Fraction(meter)
    paid = [payable_minor(claim, currency="EUR", sheet=sheet) for claim in claims]
    assert all(
        claim - Fraction(1, 100) < Fraction(minor, 100) <= claim for claim, minor in zip(claims, paid, strict=True)
    )


@OWNED
@repeatable
@given(data=st.data(), meter=values.amounts(0, 10**5), chance=st.randoms(use_true_random=False))
def test_entitlements_do_not_depend_on_the_order_of_hands(
    policy: Policy, data: st.DataObject, meter: Decimal, chance: random.Random
) -> None:
    rules = data.draw(values.rules(["cyber-caribbean-stud"], [policy]))
    sheet = data.draw(values.sheets())
    winners = data.draw(wins(rules))
    shuffled = chance.sample(winners, len(winners))
    entitled = partial(entitlements, meter=meter, prizes=rules.prizes, policy=policy, sheet=sheet)
    first = dict(zip(winners, entitled(winners), strict=True))
    assert dict(zip(shuffled, entitled(shuffled), strict=True)) == first


@OWNED
@repeatable
@given(data=st.data(), meter=values.amounts(0, 10**5))
def test_winners_of_one_tier_are_entitled_alike(policy: Policy, data: st.DataObject, meter: Decimal) -> None:
    rules = data.draw(values.rules(["cyber-caribbean-stud"], [policy]))
    winners = data.draw(wins(rules))
    sheet = data.draw(values.sheets())
    claims = entitlements(winners, meter=meter, prizes=rules.prizes, policy=policy, sheet=sheet)
    of_tier: dict[Tier, set[Fraction]] = {}
    for win, claim in zip(winners, claims, strict=True):
        of_tier.setdefault(win.tier, set()).add(claim)
    assert all(len(amounts) == 1 for amounts in of_tier.values())


@OWNED
@repeatable
@given(data=st.data(), meter=values.amounts(0, 10**5))
def test_one_winner_alone_gets_the_tiers_prize_as_far_as_the_meter_goes(
    policy: Policy, data: st.DataObject, meter: Decimal
) -> None:
    rules = data.draw(values.rules(["cyber-caribbean-stud"], [policy]))
    tier = data.draw(st.sampled_from(list(rules.prizes)))
    win = Win(Bet("b1", "p1", "1", "EUR", 100), tier)
    sheet = data.draw(values.sheets())
    prize = rules.prizes[tier]
    expected = Fraction(0)
    match prize:
        case StakeMultiple(times):
            expected = Fraction(times)
        case FixedAmount(amount):
            expected = Fraction(amount)
        case MeterPart(fraction):
            expected = Fraction(meter) * Fraction(fraction)
    claims = entitlements([win], meter=meter, prizes=rules.prizes, policy=policy, sheet=sheet)
    assert claims == (min(expected, Fraction(meter)),)


@repeatable
@given(values.rules(["live-caribbean-stud", "cyber-caribbean-stud", "seneca-caribbean-stud"]))
def test_rules_are_read_back_from_their_document_as_they_were(rules: JackpotRules) -> None:
    read = from_document(as_document(rules))
    assert read == rules
    assert list(read.prizes) == list(rules.prizes)
    assert as_document(read) == as_document(rules)
