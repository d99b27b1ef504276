"""Awards on the page of a round by their state: paid before a correction, rejected, taken back, and none at all."""

import pytest

from tests.support.bets import bet
from tests.support.correcting import correct, pay, reject
from tests.support.hands import (
    FLUSH,
    NOTHING,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    STRAIGHT_FLUSH_TOO,
    hand,
)
from tests.support.page_text import content_of
from tests.support.payouts import held_from
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

TIMES = "\N{MULTIPLICATION SIGN}"


def shown(world: World) -> str:
    answer = Visitor(world).sign_in().open("/tables/T1/rounds/r1")
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def correction_in(page: str) -> str:
    return page.partition("Correction 1: how it judges the round")[2].partition("Bets and awards")[0]


def test_a_share_that_was_paid_stays_a_share_when_another_hand_is_corrected(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", hand="2"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    pay(world, "a")
    pay(world, "b")
    effect = correct(world, hand("1", ROYAL_FLUSH), hand("2", STRAIGHT))
    assert [award["tier"] for award in effect["after"]["awards"]] == ["straight"]

    correction = correction_in(shown(world))

    assert f"The factor, M ÷ W {TIMES} 500.45" in correction
    assert "0 new awards" in correction
    assert "no hand won a part of the meter" not in correction


def test_a_prize_that_was_paid_stays_a_prize_of_its_hand(world: World) -> None:
    world.open(CYBER, base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    pay(world, "a")
    correct(world, hand("1", STRAIGHT_FLUSH_TOO))

    correction = correction_in(shown(world))

    assert "Winning hands have prizes of their own 0 new awards" in correction
    assert "Charged to the meter for all that is due EUR 100.07" in correction


def test_an_award_says_how_much_of_its_prize_was_paid_before(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    pay(world, "a")
    correct(world, hand("1", STRAIGHT_FLUSH))

    page = shown(world)

    assert f"1 {TIMES} 25 = 25 EUR 25.00 paid." in page
    assert f"1 {TIMES} 2500 = 2,500, less EUR 25.00 paid before EUR 2,475.00 to be paid." in page


def test_nothing_that_was_paid_is_said_to_stay_in_the_jackpot(world: World) -> None:
    world.open(CYBER, base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    assert "EUR 100.07 to be paid; the rest stays in the jackpot." in shown(world)
    pay(world, "a")
    correct(world, hand("1", ROYAL_FLUSH))

    page = shown(world)

    assert ", less EUR 100.07 paid before EUR 900.63 to be paid. It costs" in page
    assert "Winning hands have prizes of their own 1 new award if there are several winners" in page


def test_an_award_that_was_taken_back_is_not_to_be_paid(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    correct(world, hand("1", NOTHING))
    page = shown(world)
    assert "EUR 25.00 taken back by a correction." in page
    assert "to be paid" not in page


def test_an_award_that_people_hold_or_reject_says_so(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("500")})
    world.bet(bet("a"))
    world.settle(hand("1", ROYAL_FLUSH))
    assert "to be paid once people have approved it; the rest stays in the jackpot." in shown(world)
    reject(world, "a")
    page = shown(world)
    assert "not paid: people rejected it." in page
    assert "to be paid" not in page


def test_a_hand_that_won_a_tier_without_a_payable_amount_is_said_to_have_won_it(world: World) -> None:
    world.open(CYBER, base_amount="0", settings={"reset_amount": "0"})
    world.bet(bet("a"), bet("b", hand="2"))
    settlement = world.settle(hand("1", STRAIGHT_FLUSH), hand("2", FLUSH))
    assert [award["bet_id"] for award in settlement["awards"]] == ["b"]
    page = shown(world)
    assert "No award: the prize of its hand, straight flush, was too small to pay out." in page


def test_a_new_meter_names_every_part_of_it(world: World) -> None:
    world.open(base_amount="1000", settings={"limit": "1000", "reset_amount": "500"})
    world.bet(bet("a"))
    world.settle(hand("1", ROYAL_FLUSH))
    page = shown(world)
    assert "Above the limit, so not on offer EUR 0.45" in page
    assert "reserve + carried + above the limit + paid in by the house; cycle 2 began with it" in page
    assert "as recorded; divisions are calculated again from it" in page
