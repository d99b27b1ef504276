"""Strategies for what table servers send: stakes, rates, and hands of one deck in which the great hands are common."""

import random
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

from hypothesis import strategies as st

from jackpot_service.domain.cards import DECK, RANKS, SUITS
from tests.properties.model import Deal

KINDS = (
    ["royal"] * 3 + ["straight_flush"] * 3 + ["four"] * 2 + ["full_house", "flush", "straight", "three"] + ["any"] * 4
)
STATUSES = ["dealt"] * 8 + ["dead", "forfeited"]


@cache
def _hands_of(kind: str) -> tuple[frozenset[str], ...]:
    """Some hands of a kind, the best first."""
    runs = [["A", "2", "3", "4", "5"], *(list(RANKS[low : low + 5]) for low in range(9))]
    match kind:
        case "royal":
            hands = [[rank + suit for rank in runs[-1]] for suit in SUITS]
        case "straight_flush":
            hands = [[rank + suit for rank in run] for run in reversed(runs[:-1]) for suit in SUITS]
        case "four":
            hands = [[rank + suit for suit in SUITS] + [other] for rank, other in _with_other()]
        case "three":
            hands = [[f"{rank}s", f"{rank}h", f"{rank}d", *_kickers(rank)] for rank in RANKS]
        case "full_house":
            hands = [
                [f"{rank}s", f"{rank}h", f"{rank}d", f"{pair}c", f"{pair}d"]
                for rank in RANKS
                for pair in RANKS
                if pair != rank
            ]
        case "flush":
            hands = [[rank + suit for rank in ranks] for ranks in ("AJ852", "KT743", "Q9642") for suit in SUITS]
        case _:
            hands = [[rank + suit for rank, suit in zip(run, "shdcs", strict=True)] for run in runs]
    return tuple(map(frozenset, hands))


def _with_other() -> list[tuple[str, str]]:
    return [(rank, f"{other}{suit}") for rank in RANKS for other in "72" if other != rank for suit in "cd"]


def _kickers(rank: str) -> list[str]:
    return [f"{other}c" for other in "K852" if other != rank][:2]


@st.composite
def deals(draw: st.DrawFn, names: Sequence[str], kinds: Sequence[str] = KINDS) -> tuple[Deal, ...]:
    """Deal the named hands from one deck; some die, some are forfeited whatever they hold."""
    left = set(DECK)
    dealt = []
    for name in names:
        status = draw(st.sampled_from(STATUSES))
        cards = draw(_cards(frozenset(left), kinds))
        if status == "dead":
            cards = frozenset(sorted(cards)[: draw(st.sampled_from([0, 4]))])
        left -= cards
        dealt.append(Deal(name, status, cards))
    return tuple(dealt)


@st.composite
def _cards(draw: st.DrawFn, left: frozenset[str], kinds: Sequence[str]) -> frozenset[str]:
    """Five of the cards that are left, of the kind that was drawn if there are such."""
    hands = [hand for hand in _hands_of(draw(st.sampled_from(kinds))) if hand <= left]
    if hands:
        return draw(st.sampled_from(hands))
    chance = random.Random(draw(st.integers(0, 2**16)))
    return frozenset(chance.sample(sorted(left), 5))


@st.composite
def shuffled(draw: st.DrawFn, dealt: Sequence[Deal]) -> tuple[tuple[Deal, tuple[str, ...]], ...]:
    """The same hands and cards in another order, which is not content."""
    chance = random.Random(draw(st.integers(0, 2**16)))
    hands = chance.sample(dealt, len(dealt))
    return tuple((deal, tuple(chance.sample(sorted(deal.cards), len(deal.cards)))) for deal in hands)


def rates() -> st.SearchStrategy[dict[str, Decimal]]:
    """A rate sheet of EUR: mostly what one would see, at times anything that has ten decimals; currencies may lack."""
    usual = {
        "GBP": st.sampled_from([Decimal("1.17"), Decimal("1.30")]),
        "SEK": st.sampled_from([Decimal("0.0873"), Decimal("0.0911")]),
        "JPY": st.sampled_from([Decimal("0.0061"), Decimal("0.0057")]),
    }
    odd = {currency: st.integers(1000, 10**12).map(lambda tenths: Decimal(tenths).scaleb(-10)) for currency in usual}
    return st.one_of(
        st.fixed_dictionaries(usual),
        st.fixed_dictionaries(usual),
        st.fixed_dictionaries({}, optional=odd).filter(bool),
    )


def stakes_minor() -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from([1, 100, 100, 1000, 10_000]), st.integers(1, 12_000))
