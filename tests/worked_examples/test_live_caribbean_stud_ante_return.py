"""
What the ante of 000_6cc300954b9713ce (Live Caribbean Stud) returns under optimal play, exactly, over every deal.

A pair or better is always played: even a pair of twos under the worst open card loses less than the ante, if little.
So the open card does not matter to it, only how many dealer's hands are below, level or above. They are counted by
inclusion and exclusion over the cards that both hands would hold. Of a lesser hand only its ranks matter and what it
holds in the suit of the open card; under every open card the better of playing and folding is taken.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import pytest

from jackpot_service.domain.cards import DECK, RANKS, SUITS, Card, Category, HandValue, category_of, evaluate
from jackpot_service.domain.games import CYBER_CARIBBEAN_STUD, LIVE_CARIBBEAN_STUD, PAIR, BaseGame
from tests.support.suit_classes import suit_classes

pytestmark = pytest.mark.long

# The dealer's hands under one open card, and every deal: the player's five, the open card, the dealer's other four.
UNDER_ONE_OPEN_CARD = comb(46, 4)
OPEN_CARDS = 47
DEALS = comb(52, 5) * OPEN_CARDS * UNDER_ONE_OPEN_CARD


@dataclass(frozen=True, slots=True)
class Outcome:
    """What hands win over many deals, in antes, and in how many of the deals they are played."""

    won: int
    played: int


@pytest.fixture(scope="module")
def hands() -> "HandCounts":
    return count_hands()


@pytest.fixture(scope="module")
def lesser() -> Outcome:
    return play_lesser_hands()


def test_the_ante_returns_the_published_96_30_percent(hands: "HandCounts", lesser: Outcome) -> None:
    assert ante_return(LIVE_CARIBBEAN_STUD.base, hands, lesser) == Fraction("96.30")


def test_the_total_wager_returns_the_published_98_19_percent(hands: "HandCounts", lesser: Outcome) -> None:
    assert total_wager_return(LIVE_CARIBBEAN_STUD.base, hands, lesser) == Fraction("98.19")


def test_the_classic_odds_of_the_other_rulebooks_return_94_78_percent(hands: "HandCounts", lesser: Outcome) -> None:
    assert ante_return(CYBER_CARIBBEAN_STUD.base, hands, lesser) == Fraction("94.78")


def test_optimal_play_continues_with_52_23_percent_of_hands(hands: "HandCounts", lesser: Outcome) -> None:
    assert round_percent(play_optimally(LIVE_CARIBBEAN_STUD.base, hands, lesser)[1]) == Fraction("52.23")


def ante_return(base: BaseGame, hands: "HandCounts", lesser: Outcome) -> Fraction:
    won, _ = play_optimally(base, hands, lesser)
    return round_percent(1 + won)


def total_wager_return(base: BaseGame, hands: "HandCounts", lesser: Outcome) -> Fraction:
    won, played = play_optimally(base, hands, lesser)
    return round_percent(1 + won / (1 + base.play_antes * played))


def round_percent(share: Fraction) -> Fraction:
    return round(100 * share, 2)


def play_optimally(base: BaseGame, hands: "HandCounts", lesser: Outcome) -> tuple[Fraction, Fraction]:
    """Figure, per deal, what is won in antes, and how often a hand is played."""
    paired = play_pairs_or_better(base, hands)
    return Fraction(paired.won + lesser.won, DEALS), Fraction(paired.played + lesser.played, DEALS)


# --- A pair or better -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandCounts:
    """
    The values of all hands, weakest first, and how many hands hold certain cards.

    `holding` has, for every class of 0 to 4 cards that are alike but for the names of the suits: the number of its
    members, negative for 1 and 3 cards, and how many hands hold all cards of one member, by the place of their value.
    """

    values: tuple[HandValue, ...]
    holding: tuple[tuple[int, Counter[int]], ...]


def play_pairs_or_better(base: BaseGame, hands: HandCounts) -> Outcome:
    least, qualifying = bisect_left(hands.values, PAIR), bisect_left(hands.values, base.qualifier)
    unqualified = [base.net_of_play(player=value, dealer=hands.values[0]) for value in hands.values]
    beaten = [base.net_of_play(player=value, dealer=base.qualifier) for value in hands.values]
    lost = base.net_of_play(player=PAIR, dealer=hands.values[-1])
    won = 0
    for members, holding in hands.holding:
        total, below, idle = holding.total(), 0, 0
        for place in sorted(holding):
            count = holding[place]
            if place >= least:
                above = total - below - count
                won += members * count * (unqualified[place] * idle + beaten[place] * (below - idle) + lost * above)
            below += count
            idle += count if place < qualifying else 0
    # Any of the dealer's five cards may be the open one.
    every_hand = hands.holding[0][1]
    pairs = sum(count for place, count in every_hand.items() if place >= least)
    return Outcome(won=5 * won, played=pairs * OPEN_CARDS * UNDER_ONE_OPEN_CARD)


def count_hands() -> HandCounts:
    classes = [{suit_class(cards): members for cards, members in suit_classes(size)} for size in range(5)]
    valued = {shape: Counter(evaluate((*shape, card)) for card in DECK if card not in shape) for shape in classes[4]}
    values = tuple(sorted(set().union(*valued.values())))
    places = {value: place for place, value in enumerate(values)}
    holding = {shape: Counter({places[value]: n for value, n in held.items()}) for shape, held in valued.items()}
    for size in (3, 2, 1, 0):
        holding |= {shape: holding_fewer(shape, holding) for shape in classes[size]}
    signed = [((-1) ** size * members, holding[shape]) for size in range(5) for shape, members in classes[size].items()]
    return HandCounts(values, tuple(signed))


def holding_fewer(shape: tuple[Card, ...], holding: dict[tuple[Card, ...], Counter[int]]) -> Counter[int]:
    """Add up what one more card leads to; so every hand is met once for each of its cards that is not in `shape`."""
    met: Counter[int] = Counter()
    for card in DECK:
        if card not in shape:
            met.update(holding[suit_class((*shape, card))])
    return Counter({place: count // (5 - len(shape)) for place, count in met.items()})


def suit_class(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Name the class of cards that are alike but for the names of the suits, by one of its members."""
    held = sorted(("".join(sorted(card[0] for card in cards if card[1] == suit)) for suit in SUITS), reverse=True)
    return tuple(Card(rank + suit) for suit, ranks in zip(SUITS, held, strict=True) for rank in ranks)


# --- Less than a pair: a set of five ranks is a number of one bit for each, and of two sets the stronger is greater ---

BIT = {rank: 1 << place for place, rank in enumerate(RANKS)}
ACE_KING = BIT["A"] | BIT["K"]
# The ways to draw four ranks, of which so many are short of one card.
WAYS = tuple(3**short * 4 ** (4 - short) for short in range(5))


def play_lesser_hands() -> Outcome:
    high_cards = [
        sum(BIT[rank] for rank in ranks)
        for ranks in combinations(RANKS, 5)
        if category_of([Card(rank + suit) for rank, suit in zip(ranks, "shdcs", strict=True)]) is Category.HIGH_CARD
    ]
    outcomes = [outcome for open_rank in BIT.values() for outcome in play_under(open_rank, high_cards)]
    return Outcome(won=sum(outcome.won for outcome in outcomes), played=sum(outcome.played for outcome in outcomes))


def play_under(open_rank: int, high_cards: list[int]) -> Iterator[Outcome]:
    """Play every high card under an open card of this rank; all rulebooks pay it 1 if the dealer is idle, 3 if not."""
    rests = [ranks ^ open_rank for ranks in high_cards if ranks & open_rank]
    idle = [rest for rest in rests if (rest | open_rank) & ACE_KING != ACE_KING]
    qualified = [rest for rest in rests if (rest | open_rank) & ACE_KING == ACE_KING]
    idle_suited = cache(lambda held: count_suited(idle, held))
    for player in high_cards:
        below = [rest for rest in qualified if rest | open_rank < player]
        level = [rest for rest in qualified if rest | open_rank == player]
        idle_ways, below_ways, level_ways = (count_ways(rests, player) for rests in (idle, below, level))
        for held, deals in holdings_in_open_suit(player & ~open_rank):
            idle_count = idle_ways - idle_suited(held)
            below_count = below_ways - count_suited(below, held)
            level_count = level_ways - count_suited(level, held)
            above_count = UNDER_ONE_OPEN_CARD - idle_count - below_count - level_count
            won = idle_count + 3 * below_count - 3 * above_count
            if won > -UNDER_ONE_OPEN_CARD:
                yield Outcome(won=deals * won, played=deals * UNDER_ONE_OPEN_CARD)
            else:
                yield Outcome(won=-deals * UNDER_ONE_OPEN_CARD, played=0)


def count_ways(rests: Iterable[int], player: int) -> int:
    """Count the dealer's hands with one of these four ranks beside the open card, flushes too."""
    return sum(WAYS[(rest & player).bit_count()] for rest in rests)


def count_suited(rests: Iterable[int], held: int) -> int:
    """Count the flushes among them: all in the suit of the open card, of which the player holds some ranks."""
    return sum(not rest & held for rest in rests)


def holdings_in_open_suit(ranks: int) -> Iterator[tuple[int, int]]:
    """Yield what a hand of no flush may hold in the open card's suit, and how many deals of suits do so."""
    bits = [bit for bit in BIT.values() if bit & ranks]
    for count in range(5):
        elsewhere = 3 ** (5 - count) - (3 if count == 0 else 0)
        for held in combinations(bits, count):
            yield sum(held), len(SUITS) * elsewhere
