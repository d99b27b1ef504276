"""The catalog of base games: what the rulebooks' tables pay, one fact of a rulebook a test."""

import pytest

from jackpot_service.domain.cards import Category, HandValue, best_of, evaluate, parse_cards
from jackpot_service.domain.games import (
    ANY_HAND,
    CARIBBEAN_STUD,
    CASINO_HOLDEM_2_HAND,
    CYBER_CARIBBEAN_STUD,
    FLUSH,
    GAME_IDS,
    LIVE_CARIBBEAN_STUD,
    RULEBOOKS,
    SENECA_CARIBBEAN_STUD,
    Paytable,
    PaytableLine,
    Rulebook,
)

CARIBBEAN_STUD_RULEBOOKS = [LIVE_CARIBBEAN_STUD, CYBER_CARIBBEAN_STUD, SENECA_CARIBBEAN_STUD, CARIBBEAN_STUD]

STRONGEST_FIRST = tuple(reversed(Category))


def by_id(rulebook: Rulebook) -> str:
    return rulebook.rulebook_id


def value(text: str) -> HandValue:
    return best_of(parse_cards(text.split()))


def odds(paytable: Paytable) -> list[int]:
    """List the odds of every category, the royal flush first, -1 where it loses."""
    return [paytable.net(HandValue(category)) for category in STRONGEST_FIRST]


# --- The catalog ----------------------------------------------------------------------------------------------------


def test_two_games_are_dealt() -> None:
    assert GAME_IDS == ("caribbean-stud", "casino-holdem-2-hand")


def test_there_are_five_rulebooks() -> None:
    assert [rulebook.rulebook_id for rulebook in RULEBOOKS] == [
        "live-caribbean-stud",
        "cyber-caribbean-stud",
        "seneca-caribbean-stud",
        "caribbean-stud",
        "casino-holdem-2-hand",
    ]


def test_three_rulebooks_have_a_jackpot() -> None:
    assert [rulebook for rulebook in RULEBOOKS if rulebook.has_jackpot] == CARIBBEAN_STUD_RULEBOOKS[:3]


@pytest.mark.parametrize("rulebook", RULEBOOKS, ids=by_id)
def test_every_paytable_names_the_rulebook_it_is_taken_from(rulebook: Rulebook) -> None:
    paytables = [rulebook.base.ante, rulebook.base.play, *(bet.paytable for bet in rulebook.side_bets)]
    assert all(paytable.source.startswith(rulebook.source) for paytable in paytables)


@pytest.mark.parametrize("rulebook", RULEBOOKS, ids=by_id)
def test_no_bet_pays_a_weaker_hand_more(rulebook: Rulebook) -> None:
    paytables = [rulebook.base.ante, rulebook.base.play, *(bet.paytable for bet in rulebook.side_bets)]
    assert all(odds(paytable) == sorted(odds(paytable), reverse=True) for paytable in paytables)


@pytest.mark.parametrize("rulebook", RULEBOOKS, ids=by_id)
def test_the_play_bet_is_twice_the_ante(rulebook: Rulebook) -> None:
    assert rulebook.base.play_antes == 2


def test_a_paytable_out_of_order_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="strongest first"):
        Paytable((PaytableLine(ANY_HAND, 1), PaytableLine(FLUSH, 5)), source="a draft")


# --- What the bets pay ----------------------------------------------------------------------------------------------


def test_the_live_play_bet_pays_its_own_table() -> None:
    assert odds(LIVE_CARIBBEAN_STUD.base.play) == [100, 50, 25, 10, 7, 5, 3, 2, 1, 1]


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS[1:], ids=by_id)
def test_the_other_play_bets_pay_the_classic_table(rulebook: Rulebook) -> None:
    assert odds(rulebook.base.play) == [100, 50, 20, 7, 5, 4, 3, 2, 1, 1]


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS, ids=by_id)
def test_the_ante_of_caribbean_stud_pays_even_money(rulebook: Rulebook) -> None:
    assert odds(rulebook.base.ante) == [1] * 10


def test_the_5_plus_1_bonus_pays_three_of_a_kind_or_better() -> None:
    assert odds(LIVE_CARIBBEAN_STUD.side_bets[0].paytable) == [1000, 200, 100, 20, 15, 10, 7, -1, -1, -1]


def test_the_holdem_ante_pays_by_its_table() -> None:
    assert odds(CASINO_HOLDEM_2_HAND.base.ante) == [100, 20, 10, 3, 2, 1, 1, 1, 1, 1]


def test_the_holdem_play_bet_pays_even_money() -> None:
    assert odds(CASINO_HOLDEM_2_HAND.base.play) == [1] * 10


def test_the_holdem_bonus_pays_a_pair_of_aces_or_better() -> None:
    assert odds(CASINO_HOLDEM_2_HAND.side_bets[0].paytable) == [100, 50, 40, 30, 20, 7, 7, 7, -1, -1]


def test_the_holdem_bonus_pays_the_lowest_pair_of_aces() -> None:
    assert CASINO_HOLDEM_2_HAND.side_bets[0].paytable.net(value("As Ah 4d 3c 2s")) == 7


def test_the_holdem_bonus_loses_with_a_pair_of_kings() -> None:
    assert CASINO_HOLDEM_2_HAND.side_bets[0].paytable.net(value("Ks Kh Ad Qc Js")) == -1


def test_seneca_pays_at_most_5000_dollars() -> None:
    assert SENECA_CARIBBEAN_STUD.base.largest_payout_usd == 5000


# --- Against the dealer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS, ids=by_id)
def test_a_dealer_without_ace_and_king_pays_the_ante_only(rulebook: Rulebook) -> None:
    royal, ace_queen = value("As Ks Qs Js Ts"), value("Ah Qd Jc 9h 8d")
    assert rulebook.base.net_of_play(player=royal, dealer=ace_queen) == 1


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS, ids=by_id)
def test_a_dealer_who_does_not_qualify_pays_the_ante_even_of_a_weaker_hand(rulebook: Rulebook) -> None:
    seven_high, ace_queen = value("7s 5h 4d 3c 2s"), value("Ah Qd Jc 9h 8d")
    assert rulebook.base.net_of_play(player=seven_high, dealer=ace_queen) == 1


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS, ids=by_id)
def test_a_dealer_with_the_least_ace_and_king_qualifies(rulebook: Rulebook) -> None:
    pair, ace_king = value("2s 2h 5d 4c 3s"), value("Ah Kd 4h 3d 2c")
    assert rulebook.base.net_of_play(player=pair, dealer=ace_king) == 1 + 2 * 1


@pytest.mark.parametrize("rulebook", CARIBBEAN_STUD_RULEBOOKS, ids=by_id)
def test_an_ace_and_a_king_are_settled_by_the_next_card(rulebook: Rulebook) -> None:
    queen_next, jack_next = value("As Ks Qh 3d 2c"), value("Ah Kd Jc 9h 8d")
    assert rulebook.base.net_of_play(player=queen_next, dealer=jack_next) == 1 + 2 * 1


@pytest.mark.parametrize("rulebook", RULEBOOKS, ids=by_id)
def test_a_better_dealer_takes_both_bets(rulebook: Rulebook) -> None:
    kings, aces = value("Ks Kh 5d 4c 3s"), value("As Ah 5h 4d 3c")
    assert rulebook.base.net_of_play(player=kings, dealer=aces) == -3


@pytest.mark.parametrize("rulebook", RULEBOOKS, ids=by_id)
def test_a_tie_returns_both_bets(rulebook: Rulebook) -> None:
    kings, kings_too = value("Ks Kh 5d 4c 3s"), value("Kd Kc 5h 4d 3c")
    assert rulebook.base.net_of_play(player=kings, dealer=kings_too) == 0


def test_a_live_flush_wins_seven_to_one_on_the_play_bet() -> None:
    flush, pair = value("Kc Jc 9c 6c 3c"), value("As Ah 5h 4d 3h")
    assert LIVE_CARIBBEAN_STUD.base.net_of_play(player=flush, dealer=pair) == 1 + 2 * 7


def test_the_002_rulebook_lets_a_pair_of_tens_beat_another_by_the_second_card() -> None:
    queen_next, seven_next = value("Ts Th Ks Qs 4s"), value("Td Tc 7h Kd 2h")
    assert CARIBBEAN_STUD.base.net_of_play(player=queen_next, dealer=seven_next) == 1 + 2 * 1


def test_a_holdem_dealer_with_a_pair_of_threes_does_not_qualify() -> None:
    flush, threes = value("Kc Jc 9c 6c 3c"), value("3s 3h Ad Qc Js")
    assert CASINO_HOLDEM_2_HAND.base.net_of_play(player=flush, dealer=threes) == 2


def test_a_holdem_dealer_with_a_pair_of_fours_qualifies() -> None:
    flush, fours = value("Kc Jc 9c 6c 3c"), evaluate(parse_cards(["4s", "4h", "5d", "3d", "2s"]))
    assert CASINO_HOLDEM_2_HAND.base.net_of_play(player=flush, dealer=fours) == 2 + 2 * 1
