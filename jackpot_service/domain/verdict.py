"""What the dealt cards decide: which bets win which tier, which are refunded, and whether the jackpot is hit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.cards import Card
from jackpot_service.domain.errors import FieldError, Refused
from jackpot_service.domain.poker import category_of
from jackpot_service.domain.rules import JackpotRules, Tier


class HandStatus(StrEnum):
    """What became of a hand."""

    DEALT = "dealt"
    DEAD = "dead"
    """Dealt with a wrong number of cards: its bets are refunded."""
    FORFEITED = "forfeited"
    """Its bets get neither award nor refund, have no part in a share, and its cards hit nothing."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand of a round as it ended. A dealt hand has five cards; the others may have any."""

    hand: str
    status: HandStatus
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Win:
    """A bet whose hand won a tier."""

    bet: Bet
    tier: Tier


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    The outcome of a round before any amount is figured; every tuple in the order of bet ids.

    `dealt` are the bets on dealt hands (they share), `dead` those to refund, `wins` the winning ones among `dealt`.
    """

    dealt: tuple[Bet, ...]
    dead: tuple[Bet, ...]
    wins: tuple[Win, ...]
    pays_from_meter: bool

    @property
    def is_hit(self) -> bool:
        """Whether a dealt royal flush carries a bet, which ends the cycle."""
        return any(win.tier is Tier.ROYAL_FLUSH for win in self.wins)


class HandMissing(Refused):
    """A hand that carries a bet is not in the result."""

    code = "hand-missing"
    title = "A hand is missing"


def judge(bets: Iterable[Bet], hands: Sequence[Hand], rules: JackpotRules) -> Verdict:
    """
    Judge a round's live bets by its hands. The order of bets and of hands does not matter.

    Raises: HandMissing if a bet's hand is not among the hands.
    """
    ordered = sorted(bets, key=lambda bet: bet.bet_id)
    by_name = {hand.hand: hand for hand in hands}
    _require_every_hand(ordered, by_name)
    tiers = {hand.hand: _tier(hand, rules) for hand in hands}
    wins = tuple(Win(bet, tier) for bet in ordered if (tier := tiers[bet.hand]) is not None)
    return Verdict(
        dealt=_with_status(ordered, by_name, HandStatus.DEALT),
        dead=_with_status(ordered, by_name, HandStatus.DEAD),
        wins=wins,
        pays_from_meter=any(rules.pays_from_meter(win.tier) for win in wins),
    )


def _require_every_hand(bets: Iterable[Bet], hands: Mapping[str, Hand]) -> None:
    missing = sorted({bet.hand for bet in bets} - hands.keys())
    if missing:
        message = f"The result lacks {len(missing)} hand(s) that carry a bet: {', '.join(missing)}."
        raise HandMissing(message, field_errors=(FieldError("/hands", HandMissing.code, message),), hands=missing)


def _tier(hand: Hand, rules: JackpotRules) -> Tier | None:
    if hand.status is not HandStatus.DEALT:
        return None
    category = category_of(hand.cards)
    return next((tier for tier in rules.prizes if tier.value == category.value), None)


def _with_status(bets: Iterable[Bet], hands: Mapping[str, Hand], status: HandStatus) -> tuple[Bet, ...]:
    return tuple(bet for bet in bets if hands[bet.hand].status is status)
