"""The checker's own arithmetic, by the published examples."""

import random
from fractions import Fraction

import pytest

from jackpot_demo.dealer import deal
from jackpot_service.domain.cards import category_of, parse_cards
from tests.chaos import dealing
from tests.chaos.calls import Bet, Hand
from tests.chaos.paytable import CYBER, LIVE, awards, category, value
from tests.support import hands

ROYAL = Hand("1", "dealt", hands.ROYAL_FLUSH)
STRAIGHT_FLUSH = Hand("2", "dealt", hands.STRAIGHT_FLUSH)
NOTHING = Hand("2", "dealt", hands.NOTHING)


def bet(number: int, hand: str, currency: str = "EUR", stake_minor: int = 100) -> Bet:
    return Bet(f"b{number}", f"p{number}", hand, currency, stake_minor)


def test_a_shared_royal_flush_pays_each_bettor_the_same_factor_rounded_down() -> None:
    bets = [bet(1, "1"), bet(2, "2", "GBP"), bet(3, "2", "SEK", 1000)]

    expected = awards(LIVE, bets, [ROYAL, NOTHING], meter=Fraction("5434.05"))

    assert expected == {
        ("b1", "royal_flush"): 178_575,
        ("b2", "royal_flush"): 178_575,
        ("b3", "royal_flush"): 1_785_754,
    }


def test_a_royal_flush_without_a_bet_pays_nothing() -> None:
    assert awards(LIVE, [bet(1, "2")], [ROYAL, NOTHING], meter=Fraction(1000)) == {}


def test_who_shares_keeps_the_prize_of_the_own_hand() -> None:
    expected = awards(LIVE, [bet(1, "1"), bet(2, "2")], [ROYAL, STRAIGHT_FLUSH], meter=Fraction(1000))

    assert expected["b2", "straight_flush"] == 250_000
    assert expected["b2", "royal_flush"] == 50_000


def test_a_dead_or_forfeited_hand_wins_nothing() -> None:
    for status in ("dead", "forfeited"):
        assert awards(LIVE, [bet(1, "1")], [ROYAL._replace(status=status)], meter=Fraction(1000)) == {}


def test_hands_that_own_more_than_the_meter_are_paid_pro_rata() -> None:
    bets = [bet(1, "1"), bet(2, "2")]

    expected = awards(CYBER, bets, [ROYAL, STRAIGHT_FLUSH], meter=Fraction(100_000))

    assert expected == {("b1", "royal_flush"): 9_090_909, ("b2", "straight_flush"): 909_090}


def test_hands_that_own_a_part_of_the_meter_leave_the_rest() -> None:
    assert awards(CYBER, [bet(1, "2")], [STRAIGHT_FLUSH], meter=Fraction("12345.67")) == {
        ("b1", "straight_flush"): 123_456
    }


def test_stakes_are_worth_what_the_rates_say() -> None:
    assert value([bet(1, "1"), bet(2, "1", "GBP"), bet(3, "1", "SEK", 1000)]) == Fraction("3.043")


@pytest.mark.parametrize("seed", range(20))
def test_hands_are_named_as_the_service_names_them(seed: int) -> None:
    dealt = deal(random.Random(seed), hands=9).hands
    ours = ("three_of_a_kind", "straight", "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush")

    for cards in (*dealt, *hands.NO_COLLISIONS):
        theirs = category_of(parse_cards(cards)).value
        assert category(cards) == (theirs if theirs in ours else "")


def test_what_is_dealt_comes_from_one_deck_and_now_and_then_hits() -> None:
    chance = random.Random(1)
    rounds = [dealing.deal(chance) for _ in range(500)]

    for round_hands in rounds:
        cards = [card for hand in round_hands for card in hand.cards]
        assert len(cards) == len(set(cards))
    assert any(hand.status == "dealt" and hand.cards == dealing.ROYAL for round_ in rounds for hand in round_)
