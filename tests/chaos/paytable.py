"""
What bets contribute and what hands win, figured from the rulebooks alone: none of the service's code is used.

All of it is `Fraction`, so nothing is rounded but an award, down to a payable minor unit.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.chaos.calls import Bet, Hand

BASE = "EUR"
RATES: Mapping[str, Fraction] = {
    "EUR": Fraction(1),
    "GBP": Fraction("1.17"),
    "SEK": Fraction("0.0873"),
    "JPY": Fraction("0.0061"),
}
EXPONENTS: Mapping[str, int] = {"EUR": 2, "GBP": 2, "SEK": 2, "JPY": 0}

DEALT, DEAD, FORFEITED = "dealt", "dead", "forfeited"
ROYAL_FLUSH = "royal_flush"
_RANKS = "23456789TJQKA"
_WHEEL = {12, 0, 1, 2, 3}

Awards = Mapping[tuple[str, str], int]
"""Minor units in the bet's currency, by bet id and tier."""


@dataclass(frozen=True, slots=True)
class Rulebook:
    """A published rulebook: parts of each bet, prizes as multiples of the stake, and as parts of the meter."""

    name: str
    meter: Fraction
    reserve: Fraction
    prize_fund: Fraction
    multiples: Mapping[str, int]
    parts: Mapping[str, Fraction]
    is_shared: bool

    @property
    def house(self) -> Fraction:
        return 1 - self.meter - self.reserve - self.prize_fund


LIVE = Rulebook(
    "live-caribbean-stud",
    Fraction("0.45"),
    Fraction("0.05"),
    Fraction("0.3184"),
    {
        "straight_flush": 2500,
        "four_of_a_kind": 250,
        "full_house": 50,
        "flush": 25,
        "straight": 10,
        "three_of_a_kind": 3,
    },
    {ROYAL_FLUSH: Fraction(1)},
    is_shared=True,
)
CYBER = Rulebook(
    "cyber-caribbean-stud",
    Fraction("0.7"),
    Fraction(0),
    Fraction(0),
    {"four_of_a_kind": 500, "full_house": 100, "flush": 50},
    {ROYAL_FLUSH: Fraction(1), "straight_flush": Fraction("0.1")},
    is_shared=False,
)
RULEBOOKS: Mapping[str, Rulebook] = {book.name: book for book in (LIVE, CYBER)}


def in_units(currency: str, amount_minor: int) -> Fraction:
    """Return an amount of minor units in units of its currency."""
    return Fraction(amount_minor, 10 ** EXPONENTS[currency])


def base_value(currency: str, amount_minor: int) -> Fraction:
    """Return what an amount is worth in the base currency."""
    return in_units(currency, amount_minor) * RATES[currency]


def value(bets: Iterable[Bet]) -> Fraction:
    """Return what stakes are worth together."""
    return sum((base_value(bet.currency, bet.stake_minor) for bet in bets), Fraction())


def category(cards: Sequence[str]) -> str:
    """Name a hand of five cards."""
    ranks = sorted(_RANKS.index(card[0]) for card in cards)
    counts = sorted(Counter(ranks).values(), reverse=True)
    is_flush = len({card[1] for card in cards}) == 1
    is_straight = counts[0] == 1 and (ranks[-1] - ranks[0] == 4 or set(ranks) == _WHEEL)
    if is_flush and is_straight:
        return ROYAL_FLUSH if ranks[0] == _RANKS.index("T") else "straight_flush"
    if counts[0] == 4:
        return "four_of_a_kind"
    if counts[:2] == [3, 2]:
        return "full_house"
    if is_flush:
        return "flush"
    if is_straight:
        return "straight"
    return "three_of_a_kind" if counts[0] == 3 else ""


def awards(book: Rulebook, bets: Collection[Bet], hands: Iterable[Hand], *, meter: Fraction) -> Awards:
    """Figure the awards of a round's live bets; one of 0 is not made. `meter` is what was on offer."""
    tiers = {hand.hand: category(hand.cards) for hand in hands if hand.status == DEALT}
    dealt = [bet for bet in bets if bet.hand in tiers]
    shares = _shared(book, dealt, tiers, meter) if book.is_shared else _owned(book, dealt, tiers, meter)
    return {key: amount for key, amount in shares.items() if amount}


def _shared(
    book: Rulebook, dealt: Collection[Bet], tiers: Mapping[str, str], meter: Fraction
) -> dict[tuple[str, str], int]:
    """Pay fixed prizes to those who hold them, and the meter to all if anybody holds a royal flush."""
    amounts = {
        (bet.bet_id, tiers[bet.hand]): bet.stake_minor * book.multiples[tiers[bet.hand]]
        for bet in dealt
        if tiers[bet.hand] in book.multiples
    }
    if any(tiers[bet.hand] == ROYAL_FLUSH for bet in dealt):
        weight = value(dealt)
        amounts |= {(bet.bet_id, ROYAL_FLUSH): int(bet.stake_minor * meter // weight) for bet in dealt}
    return amounts


def _owned(
    book: Rulebook, dealt: Collection[Bet], tiers: Mapping[str, str], meter: Fraction
) -> dict[tuple[str, str], int]:
    """Give each winner what the hand is entitled to; together no more than the meter, else pro rata."""
    claims = {bet: _claim(book, bet, tiers[bet.hand], meter) for bet in dealt}
    claimed = sum(claims.values())
    scale = min(Fraction(1), meter / claimed) if claimed else Fraction(1)
    return {
        (bet.bet_id, tiers[bet.hand]): int(claim * scale // base_value(bet.currency, 1))
        for bet, claim in claims.items()
    }


def _claim(book: Rulebook, bet: Bet, tier: str, meter: Fraction) -> Fraction:
    if tier in book.parts:
        return meter * book.parts[tier]
    return book.multiples.get(tier, 0) * base_value(bet.currency, bet.stake_minor)
