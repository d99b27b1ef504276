"""
The base games and side bets of the five rulebooks, without their jackpots.

The service settles jackpots only; what a table pays on the ante is the casino's. The paytables are kept because the
rulebooks publish what they return, and a hand evaluator that did not reproduce those figures would be wrong.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, starmap

from jackpot_service.domain.cards import Category, HandValue


class GameId(StrEnum):
    """The game that is dealt at a table, whichever rulebook it is dealt by; a table never changes it."""

    CARIBBEAN_STUD = "caribbean-stud"
    CASINO_HOLDEM_2_HAND = "casino-holdem-2-hand"


GAME_IDS: tuple[str, ...] = tuple(game_id.value for game_id in GameId)


@dataclass(frozen=True, slots=True)
class PaytableLine:
    """The payout of a hand that is at least `hand` and below the line above: `odds` to one, the stake returned."""

    hand: HandValue
    odds: int


@dataclass(frozen=True, slots=True)
class Paytable:
    """The odds of one bet, strongest hand first; a hand below the last line loses."""

    lines: tuple[PaytableLine, ...]
    source: str

    def __post_init__(self) -> None:
        if any(above.hand <= below.hand for above, below in pairwise(self.lines)):
            raise ValueError(f"the lines of a paytable stand strongest first: {self.source}")

    def net(self, hand: HandValue) -> int:
        """Return what one unit wins with this hand, -1 if it is lost."""
        return next((line.odds for line in self.lines if hand >= line.hand), -1)


@dataclass(frozen=True, slots=True)
class BaseGame:
    """
    A hand played against the dealer's: an ante, and a play bet of `play_antes` antes that the player may decline.

    `qualifier` is the weakest hand with which the dealer plays. Against a weaker one the ante pays by its table,
    whatever the player holds, and the play bet is returned. A dealer who qualifies takes both bets or pays both; a tie
    returns both. A player who folds loses the ante.

    The returns are published per cents of optimal play. `largest_payout_usd` caps the play bet from two pairs up.
    """

    ante: Paytable
    play: Paytable
    play_antes: int
    qualifier: HandValue
    source: str
    ante_return_percent: str | None = None
    total_wager_return_percent: str | None = None
    largest_payout_usd: int | None = None

    def net_of_play(self, *, player: HandValue, dealer: HandValue) -> int:
        """Return what a hand that was played, not folded, wins or loses, in antes and before any largest payout."""
        if dealer < self.qualifier:
            return self.ante.net(player)
        if player == dealer:
            return 0
        if player < dealer:
            return -1 - self.play_antes
        return self.ante.net(player) + self.play_antes * self.play.net(player)


@dataclass(frozen=True, slots=True)
class SideBet:
    """A bet besides the ante, on the best five of some cards; neither folding nor the outcome of the hand matters."""

    name: str
    judged_cards: str
    paytable: Paytable
    return_percent: str


@dataclass(frozen=True, slots=True)
class Rulebook:
    """One published rulebook in one version; a correction is a further version, never a change of this one."""

    rulebook_id: str
    game_id: GameId
    version: int
    base: BaseGame
    side_bets: tuple[SideBet, ...]
    has_jackpot: bool
    source: str


def _paytable(source: str, odds: dict[HandValue, int]) -> Paytable:
    return Paytable(tuple(starmap(PaytableLine, odds.items())), source)


ANY_HAND = HandValue(Category.HIGH_CARD)
ACE_KING = HandValue(Category.HIGH_CARD, (14, 13))
PAIR = HandValue(Category.PAIR)
PAIR_OF_FOURS = HandValue(Category.PAIR, (4,))
PAIR_OF_ACES = HandValue(Category.PAIR, (14,))
TWO_PAIRS = HandValue(Category.TWO_PAIRS)
THREE_OF_A_KIND = HandValue(Category.THREE_OF_A_KIND)
STRAIGHT = HandValue(Category.STRAIGHT)
FLUSH = HandValue(Category.FLUSH)
FULL_HOUSE = HandValue(Category.FULL_HOUSE)
FOUR_OF_A_KIND = HandValue(Category.FOUR_OF_A_KIND)
STRAIGHT_FLUSH = HandValue(Category.STRAIGHT_FLUSH)
ROYAL_FLUSH = HandValue(Category.ROYAL_FLUSH)

# The odds that Cyber, Seneca and the "Caribbean Stud rules" share, down to two pairs.
_CLASSIC_ODDS = {
    ROYAL_FLUSH: 100,
    STRAIGHT_FLUSH: 50,
    FOUR_OF_A_KIND: 20,
    FULL_HOUSE: 7,
    FLUSH: 5,
    STRAIGHT: 4,
    THREE_OF_A_KIND: 3,
    TWO_PAIRS: 2,
}

_LIVE = "000_6cc300954b9713ce (Live Caribbean Stud)"
_CYBER = "001_4d218428529c6aed (Cyber Caribbean Stud)"
_STUD_RULES = "002_154c7e339166d6ab (Caribbean Stud rules)"
_HOLDEM = "003_8d7d60b88b482102 (2 Hand Casino Hold'em)"
_SENECA = "004_20e4af0af0951b19 (Seneca Caribbean Stud)"

LIVE_CARIBBEAN_STUD = Rulebook(
    rulebook_id="live-caribbean-stud",
    game_id=GameId.CARIBBEAN_STUD,
    version=1,
    base=BaseGame(
        ante=_paytable(f'{_LIVE}, "Game Outcomes and Payouts"', {ANY_HAND: 1}),
        play=_paytable(
            f'{_LIVE}, "Play bet"',
            {
                ROYAL_FLUSH: 100,
                STRAIGHT_FLUSH: 50,
                FOUR_OF_A_KIND: 25,
                FULL_HOUSE: 10,
                FLUSH: 7,
                STRAIGHT: 5,
                THREE_OF_A_KIND: 3,
                TWO_PAIRS: 2,
                ANY_HAND: 1,
            },
        ),
        play_antes=2,
        qualifier=ACE_KING,
        source=f'{_LIVE}, "Outcomes quick-reference table", "Return to Player"',
        ante_return_percent="96.30",
        total_wager_return_percent="98.19",
    ),
    side_bets=(
        SideBet(
            name="5+1 Bonus",
            judged_cards="the player's five and the dealer's first",
            paytable=_paytable(
                f'{_LIVE}, "5+1 BONUS"',
                {
                    ROYAL_FLUSH: 1000,
                    STRAIGHT_FLUSH: 200,
                    FOUR_OF_A_KIND: 100,
                    FULL_HOUSE: 20,
                    FLUSH: 15,
                    STRAIGHT: 10,
                    THREE_OF_A_KIND: 7,
                },
            ),
            return_percent="91.44",
        ),
    ),
    has_jackpot=True,
    source=_LIVE,
)

CYBER_CARIBBEAN_STUD = Rulebook(
    rulebook_id="cyber-caribbean-stud",
    game_id=GameId.CARIBBEAN_STUD,
    version=1,
    base=BaseGame(
        ante=_paytable(f'{_CYBER}, "Game Play"', {ANY_HAND: 1}),
        play=_paytable(f'{_CYBER}, "Game Play", chart of the Back Bet', _CLASSIC_ODDS | {ANY_HAND: 1}),
        play_antes=2,
        qualifier=ACE_KING,
        source=f'{_CYBER}, "Game Play"',
    ),
    side_bets=(),
    has_jackpot=True,
    source=_CYBER,
)

# A pair is the lowest hand in Seneca's odds. The rulebook also lets an ace and a king beat the dealer's by the next
# card, and names no odds for it. Even money, as at Live and Cyber, is our reading.
SENECA_CARIBBEAN_STUD = Rulebook(
    rulebook_id="seneca-caribbean-stud",
    game_id=GameId.CARIBBEAN_STUD,
    version=1,
    base=BaseGame(
        ante=_paytable(f'{_SENECA}, "The play of the game"', {ANY_HAND: 1}),
        play=_paytable(f'{_SENECA}, "Odds"', _CLASSIC_ODDS | {PAIR: 1, ANY_HAND: 1}),
        play_antes=2,
        qualifier=ACE_KING,
        source=f'{_SENECA}, "The play of the game", "Irregularities"',
        largest_payout_usd=5000,
    ),
    side_bets=(),
    has_jackpot=True,
    source=_SENECA,
)

# These rules give a high card no odds, though it may win, and do not say what a tie does. Even money and a return of
# both bets, as at Live and Cyber, are our reading.
CARIBBEAN_STUD = Rulebook(
    rulebook_id="caribbean-stud",
    game_id=GameId.CARIBBEAN_STUD,
    version=1,
    base=BaseGame(
        ante=_paytable(f'{_STUD_RULES}, "Playing The Game", 4', {ANY_HAND: 1}),
        play=_paytable(f'{_STUD_RULES}, "Poker Hands and Their Payouts"', _CLASSIC_ODDS | {PAIR: 1, ANY_HAND: 1}),
        play_antes=2,
        qualifier=ACE_KING,
        source=f'{_STUD_RULES}, "Playing The Game"',
    ),
    side_bets=(),
    has_jackpot=False,
    source=_STUD_RULES,
)

CASINO_HOLDEM_2_HAND = Rulebook(
    rulebook_id="casino-holdem-2-hand",
    game_id=GameId.CASINO_HOLDEM_2_HAND,
    version=1,
    base=BaseGame(
        ante=_paytable(
            f'{_HOLDEM}, "ANTE"',
            {ROYAL_FLUSH: 100, STRAIGHT_FLUSH: 20, FOUR_OF_A_KIND: 10, FULL_HOUSE: 3, FLUSH: 2, ANY_HAND: 1},
        ),
        play=_paytable(f'{_HOLDEM}, "Outcomes quick-reference table"', {ANY_HAND: 1}),
        play_antes=2,
        qualifier=PAIR_OF_FOURS,
        source=f'{_HOLDEM}, "Outcomes quick-reference table", "Return to Player"',
        ante_return_percent="97.84",
    ),
    side_bets=(
        SideBet(
            name="Bonus",
            judged_cards="the player's two and the flop's three",
            paytable=_paytable(
                f'{_HOLDEM}, "BONUS"',
                {
                    ROYAL_FLUSH: 100,
                    STRAIGHT_FLUSH: 50,
                    FOUR_OF_A_KIND: 40,
                    FULL_HOUSE: 30,
                    FLUSH: 20,
                    STRAIGHT: 7,
                    THREE_OF_A_KIND: 7,
                    TWO_PAIRS: 7,
                    PAIR_OF_ACES: 7,
                },
            ),
            return_percent="93.74",
        ),
    ),
    has_jackpot=False,
    source=_HOLDEM,
)

RULEBOOKS: tuple[Rulebook, ...] = (
    LIVE_CARIBBEAN_STUD,
    CYBER_CARIBBEAN_STUD,
    SENECA_CARIBBEAN_STUD,
    CARIBBEAN_STUD,
    CASINO_HOLDEM_2_HAND,
)
