"""Cards: what is one, and what one deck allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.cards import DECK, BadCard, Card, CardRepeated, parse_card, parse_cards, require_one_deck


def test_a_deck_has_52_different_cards() -> None:
    assert len(DECK) == len(set(DECK)) == 52


@pytest.mark.parametrize("card", DECK)
def test_every_card_of_the_deck_is_read_as_itself(card: Card) -> None:
    assert parse_card(card) == card


@pytest.mark.parametrize("text", ["", "A", "s", "sA", "as", "AS", "10s", "1s", "A♠", "As ", " As", "AsKs", "Xx", "??"])
def test_a_text_that_names_no_card_is_refused(text: str) -> None:
    with pytest.raises(BadCard):
        parse_card(text)


@given(st.text().filter(lambda text: text not in DECK))
def test_no_other_text_is_a_card(text: str) -> None:
    with pytest.raises(BadCard):
        parse_card(text)


def test_a_bad_card_is_named_in_the_facts() -> None:
    with pytest.raises(BadCard) as refusal:
        parse_card("1s")
    assert refusal.value.facts == {"card": "1s"}


def test_a_bad_card_has_a_stable_code() -> None:
    assert BadCard.code == "card-unknown"


def test_cards_are_read_in_the_order_given() -> None:
    assert parse_cards(["Td", "As", "2c"]) == ("Td", "As", "2c")


def test_one_bad_card_refuses_all() -> None:
    with pytest.raises(BadCard, match="10d"):
        parse_cards(["As", "10d"])


def test_a_whole_deck_is_one_deck() -> None:
    require_one_deck(DECK)


def test_no_cards_are_of_one_deck() -> None:
    require_one_deck(())


def test_a_card_dealt_twice_is_refused() -> None:
    with pytest.raises(CardRepeated):
        require_one_deck(parse_cards(["As", "Kd", "As"]))


def test_every_repeated_card_is_named_once_in_the_order_of_first_mention() -> None:
    with pytest.raises(CardRepeated) as refusal:
        require_one_deck(parse_cards(["Kd", "As", "2c", "As", "Kd", "As"]))
    assert refusal.value.facts == {"cards": ["Kd", "As"]}


def test_a_repeated_card_has_a_stable_code() -> None:
    assert CardRepeated.code == "card-repeated"


@given(st.lists(st.sampled_from(DECK), min_size=53, max_size=60))
def test_53_cards_are_never_of_one_deck(cards: list[Card]) -> None:
    with pytest.raises(CardRepeated):
        require_one_deck(cards)
