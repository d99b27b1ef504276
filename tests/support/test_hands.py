from itertools import chain

from jackpot_service.domain.cards import DECK, category_of, parse_cards
from tests.support import hands


def test_hands_that_may_meet_in_one_round_share_no_card() -> None:
    cards = tuple(chain.from_iterable(hands.NO_COLLISIONS))

    assert len(set(cards)) == len(cards)
    assert set(cards) <= set(DECK)


def test_hands_are_what_they_are_called() -> None:
    for name in ("ROYAL_FLUSH", "STRAIGHT_FLUSH", "FOUR_OF_A_KIND", "FULL_HOUSE", "FLUSH", "STRAIGHT"):
        assert category_of(parse_cards(getattr(hands, name))).name == name
    assert category_of(parse_cards(hands.ROYAL_FLUSH_TOO)).name == "ROYAL_FLUSH"
    assert category_of(parse_cards(hands.STRAIGHT_FLUSH_TOO)).name == "STRAIGHT_FLUSH"
    assert category_of(parse_cards(hands.THREE_OF_A_KIND)).name == "THREE_OF_A_KIND"
    assert {category_of(parse_cards(cards)).name for cards in (hands.NOTHING, hands.NOTHING_TOO)} == {"HIGH_CARD"}
