"""The value of poker hands: categories, tie-breaks, and the best five of up to seven."""

from itertools import combinations, combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain.cards import (
    DECK,
    RANKS,
    Card,
    Category,
    HandValue,
    best_of,
    category_of,
    evaluate,
    parse_cards,
)


def hand(text: str) -> tuple[Card, ...]:
    return parse_cards(text.split())


def value(text: str) -> HandValue:
    return evaluate(hand(text))


def dealt(least: int, most: int) -> st.SearchStrategy[list[Card]]:
    return st.lists(st.sampled_from(DECK), min_size=least, max_size=most, unique=True)


# --- Categories -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("As Ks Qs Js Ts", Category.ROYAL_FLUSH),
        ("9h 8h 7h 6h 5h", Category.STRAIGHT_FLUSH),
        ("Kd Qd Jd Td 9d", Category.STRAIGHT_FLUSH),
        ("5c 4c 3c 2c Ac", Category.STRAIGHT_FLUSH),
        ("As Ah Ad Ac 2s", Category.FOUR_OF_A_KIND),
        ("Ks Kh Kd 6c 6s", Category.FULL_HOUSE),
        ("Kc Jc 9c 6c 3c", Category.FLUSH),
        ("9s 8h 7d 6c 5s", Category.STRAIGHT),
        ("As Kh Qd Jc Ts", Category.STRAIGHT),
        ("5s 4h 3d 2c As", Category.STRAIGHT),
        ("9s 9h 9d Ac 8s", Category.THREE_OF_A_KIND),
        ("4s 4h Jd Jc As", Category.TWO_PAIRS),
        ("8s 4h Jd Jc As", Category.PAIR),
        ("As Kh 9d 6c 3s", Category.HIGH_CARD),
    ],
)
def test_a_hand_has_the_category_of_the_rulebooks(text: str, category: Category) -> None:
    assert category_of(hand(text)) is category


@pytest.mark.parametrize("text", ["2s Ah Kd Qc Js", "3s 2h Ad Kc Qs", "4s 3h 2d Ac Ks"])
def test_a_straight_does_not_go_round_the_ace(text: str) -> None:
    assert category_of(hand(text)) is Category.HIGH_CARD


def test_four_cards_of_a_suit_are_no_flush() -> None:
    assert category_of(hand("Kc Jc 9c 6c 3s")) is Category.HIGH_CARD


def test_a_royal_flush_needs_one_suit() -> None:
    assert category_of(hand("As Ks Qs Js Th")) is Category.STRAIGHT


def test_categories_are_ordered_by_strength_and_not_by_the_alphabet() -> None:
    backwards = [*Category][::-1]
    assert sorted(backwards) == list(Category)


@pytest.mark.parametrize(("weaker", "stronger"), list(combinations(Category, 2)))
def test_a_category_declared_later_is_stronger(weaker: Category, stronger: Category) -> None:
    assert weaker < stronger
    assert weaker <= stronger
    assert stronger > weaker
    assert stronger >= weaker


def test_a_category_is_its_lower_case_name() -> None:
    assert [str(category) for category in Category] == [category.name.lower() for category in Category]


# --- Tie-breaks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("As Ks Qs Js Ts", "Kh Qh Jh Th 9h"),
        ("6h 5h 4h 3h 2h", "5s 4s 3s 2s As"),
        ("3s 3h 3d 3c 2s", "2s 2h 2d 2c As"),
        ("3s 3h 3d 3c As", "3s 3h 3d 3c Ks"),
        ("Ks Kh Kd 2c 2s", "Qs Qh Qd Ac As"),
        ("Ks Kh Kd 6c 6s", "Ks Kh Kd 5c 5s"),
        ("Ac 9c 7c 5c 3c", "Ks Qs Js 9s 8s"),
        ("Kc Jc 9c 6c 4c", "Ks Js 9s 6s 3s"),
        ("Ts 9h 8d 7c 6s", "9s 8h 7d 6c 5s"),
        ("6s 5h 4d 3c 2s", "5s 4h 3d 2c As"),
        ("9s 9h 9d Ac 8s", "8s 8h 8d Ac Ks"),
        ("9s 9h 9d Ac 8s", "9s 9h 9d Ac 7s"),
        ("As Ah 3d 3c 2s", "Ks Kh Qd Qc As"),
        ("As Ah 4d 4c 2s", "As Ah 3d 3c Ks"),
        ("As Ah 4d 4c 3s", "As Ah 4d 4c 2s"),
        ("3s 3h 5d 4c 2s", "2s 2h Ad Kc Qs"),
        ("Ts Th Kd Qc 4s", "Ts Th 7d Kc 2s"),
        ("As Kh 9d 6c 3s", "As Qh Jd Tc 8s"),
        ("As Kh 9d 6c 3s", "As Kh 9d 6c 2s"),
    ],
)
def test_within_a_category_the_higher_ranks_win(better: str, worse: str) -> None:
    assert value(better) > value(worse)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("As Ks Qs Js Ts", "Ah Kh Qh Jh Th"),
        ("9s 8h 7d 6c 5s", "9c 8c 7c 6c 5d"),
        ("Kc Jc 9c 6c 3c", "Kd Jd 9d 6d 3d"),
        ("As Ah 4d 4c 3s", "Ad Ac 4h 4s 3d"),
        ("As Kh 9d 6c 3s", "Ac Ks 9h 6d 3c"),
    ],
)
def test_suits_break_no_tie(text: str, same: str) -> None:
    assert value(text) == value(same)


def test_all_hands_have_7462_values() -> None:
    one_of_each_rank = combinations(RANKS, 5)
    suited = {evaluate(hand(" ".join(rank + "s" for rank in ranks))) for ranks in one_of_each_rank}
    assert len(suited | {evaluate(unsuited(ranks)) for ranks in rank_patterns()}) == 7462


def rank_patterns() -> list[tuple[str, ...]]:
    return [ranks for ranks in combinations_with_replacement(RANKS, 5) if len(set(ranks)) > 1]


def unsuited(ranks: tuple[str, ...]) -> tuple[Card, ...]:
    """Deal sorted ranks in turning suits: equal ranks differ in suit, and five cards never share one."""
    return tuple(Card(rank + suit) for rank, suit in zip(ranks, "shdcs", strict=True))


def test_a_bound_of_fewer_ranks_is_below_no_hand_that_meets_it() -> None:
    assert HandValue(Category.PAIR, (14,)) <= value("As Ah 4d 3c 2s")


def test_a_bound_of_fewer_ranks_is_above_every_hand_that_misses_it() -> None:
    assert HandValue(Category.PAIR, (14,)) > value("Ks Kh Ad Qc Js")


# --- The best five of six and seven ---------------------------------------------------------------------------------


def test_the_dealers_open_card_can_make_the_hand() -> None:
    assert category_of(hand("As Ks Qs Js 2d Ts")) is Category.ROYAL_FLUSH


def test_seven_cards_make_their_best_five() -> None:
    assert best_of(hand("9s 9h 9d Kc Ks 2h 2d")) == value("9s 9h 9d Kc Ks")


def test_of_three_pairs_the_lowest_may_be_the_kicker() -> None:
    assert best_of(hand("As Ah Kd Kc Qs Qh Jd")).ranks == (14, 13, 12)


def test_a_longer_straight_counts_from_its_highest_card() -> None:
    assert best_of(hand("4s 5h 6d 7c 8s 9h Td")) == HandValue(Category.STRAIGHT, (10,))


@given(dealt(7, 7))
def test_the_best_of_seven_is_the_best_of_all_21_hands_of_five(seven: list[Card]) -> None:
    fives = list(combinations(seven, 5))
    assert len(fives) == 21
    assert best_of(seven) == max(evaluate(five) for five in fives)


@given(dealt(5, 7))
def test_the_cheap_category_is_the_category_of_the_best_hand(cards: list[Card]) -> None:
    assert category_of(cards) is best_of(cards).category


# --- Laws -----------------------------------------------------------------------------------------------------------


@given(dealt(5, 7).flatmap(lambda cards: st.tuples(st.just(cards), st.permutations(cards))))
def test_the_order_of_cards_does_not_matter(orders: tuple[list[Card], list[Card]]) -> None:
    cards, shuffled = orders
    assert best_of(cards) == best_of(shuffled)


@given(dealt(5, 5), st.permutations("shdc"))
def test_the_names_of_the_suits_do_not_matter(five: list[Card], names: list[str]) -> None:
    renamed = [Card(card[0] + names["shdc".index(card[1])]) for card in five]
    assert evaluate(five) == evaluate(renamed)


@given(dealt(5, 5), dealt(5, 5))
def test_a_hand_of_a_stronger_category_is_the_better_hand(one: list[Card], other: list[Card]) -> None:
    if category_of(one) > category_of(other):
        assert evaluate(one) > evaluate(other)


@given(dealt(6, 7))
def test_a_further_card_never_makes_a_hand_worse(cards: list[Card]) -> None:
    assert best_of(cards) >= best_of(cards[:-1])


# --- Programmer's errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 4, 8, 52])
def test_a_category_needs_five_to_seven_cards(count: int) -> None:
    with pytest.raises(ValueError, match=f"^{count} cards"):
        category_of(DECK[:count])


@pytest.mark.parametrize("count", [0, 4, 8, 52])
def test_a_best_hand_needs_five_to_seven_cards(count: int) -> None:
    with pytest.raises(ValueError, match=f"^{count} cards"):
        best_of(DECK[:count])


@pytest.mark.parametrize("count", [0, 4, 6, 7])
def test_an_evaluated_hand_has_five_cards(count: int) -> None:
    with pytest.raises(ValueError, match=f"^{count} cards"):
        evaluate(DECK[:count])


def test_a_hand_does_not_hold_a_card_twice() -> None:
    with pytest.raises(ValueError, match="repeated"):
        category_of(hand("As As Kd Qc Js"))
