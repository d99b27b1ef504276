"""How a round ended, in its table server's words, and what its dealt cards decide: winners, refunds, a hit."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Final

from jackpot_service.domain.bets import Bet
from jackpot_service.domain.cards import Card, category_of, require_one_deck
from jackpot_service.domain.errors import FieldError, Refused
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import DeadHand, JackpotRules

CARDS_OF_A_DEALT_HAND = 5

_TIERS: Final[Mapping[str, Tier]] = {tier.value: tier for tier in Tier}
"""By the name of their category."""


class HandStatus(StrEnum):
    """The status of a hand in a round's result."""

    DEALT = "dealt"
    DEAD = "dead"
    """Dealt with a wrong number of cards: it wins nothing; its bets are refunded, or play on, as the rules say."""
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

    `in_play` are the bets that share: those on dealt hands, and on dead ones if the rules have them play on. `refunded`
    are the other ones on dead hands, `wins` the winning ones among `in_play`.
    """

    in_play: tuple[Bet, ...]
    refunded: tuple[Bet, ...]
    wins: tuple[Win, ...]
    pays_from_meter: bool

    @property
    def is_hit(self) -> bool:
        """Whether a dealt royal flush carries a bet, which ends the cycle."""
        return any(win.tier is Tier.ROYAL_FLUSH for win in self.wins)


class HandMissing(Refused, code="hand-missing", title="A hand is missing"):
    """A hand that carries a bet is not in the result."""


def judge(bets: Iterable[Bet], hands: Sequence[Hand], rules: JackpotRules) -> Verdict:
    """
    Judge a round's live bets by its hands. The order of bets and of hands does not matter.

    Raises: HandMissing if a bet's hand is not among the hands.
    """
    ordered = sorted(bets, key=lambda bet: bet.bet_id)
    by_name = {hand.hand: hand for hand in hands}
    _require_every_hand(ordered, by_name)
    tiers = {hand.hand: tier_of(hand.cards, rules) if hand.status is HandStatus.DEALT else None for hand in hands}
    wins = tuple(Win(bet, tier) for bet in ordered if (tier := tiers[bet.hand]) is not None)
    refunded = refunded_hands(hands, rules)
    out_of_play = refunded.union(hand.hand for hand in hands if hand.status is HandStatus.FORFEITED)
    return Verdict(
        in_play=tuple(bet for bet in ordered if bet.hand not in out_of_play),
        refunded=tuple(bet for bet in ordered if bet.hand in refunded),
        wins=wins,
        pays_from_meter=any(rules.pays_from_meter(win.tier) for win in wins),
    )


def _require_every_hand(bets: Iterable[Bet], hands: Mapping[str, Hand]) -> None:
    missing = sorted({bet.hand for bet in bets} - hands.keys())
    if missing:
        message = f"The result lacks hands that carry a bet: {', '.join(missing)}."
        raise HandMissing(message, field_errors=(FieldError("/hands", HandMissing.code, message),), hands=missing)


def tier_of(cards: Sequence[Card], rules: JackpotRules) -> Tier | None:
    """Find the tier that five cards win; other numbers of cards win none."""
    if len(cards) != CARDS_OF_A_DEALT_HAND:
        return None
    tier = _TIERS.get(category_of(cards))
    return tier if tier in rules.prizes else None


def refunded_hands(hands: Iterable[Hand], rules: JackpotRules) -> frozenset[str]:
    """Name the hands whose bets are refunded: the dead ones, unless the rules have their bets play on."""
    if rules.dead_hand is DeadHand.PLAY_ON:
        return frozenset()
    return frozenset(hand.hand for hand in hands if hand.status is HandStatus.DEAD)


class BadHands(Refused, code="hands-invalid", title="Invalid hands"):
    """The hands of a result are not those of a round: one twice, or dealt with a wrong number of cards."""


@dataclass(frozen=True, slots=True)
class Result:
    """
    A round's result. `bet_count` is how many live bets the table server believes in.

    `occurred_at` is a remark; the rest is content, in which neither the order of hands nor of cards matters.
    """

    bet_count: int
    hands: tuple[Hand, ...]
    dealer: tuple[Card, ...] = ()
    occurred_at: datetime | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """The parts that must be equal for a repeated result to be a replay."""
        return self.bet_count, hands_content(self.hands), tuple(sorted(self.dealer))


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a round's betting. `bet_count` is how many live bets the table server believes in."""

    bet_count: int
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A round's cancellation; hands may be sent with it, and are stored."""

    reason: str
    hands: tuple[Hand, ...] = ()
    occurred_at: datetime | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """The parts that must be equal for a repeated cancellation to be a replay."""
        return self.reason, hands_content(self.hands)


def hands_content(hands: Sequence[Hand]) -> tuple[object, ...]:
    """Hands in an order of their own, their cards too."""
    return tuple(sorted((hand.hand, hand.status.value, tuple(sorted(hand.cards))) for hand in hands))


def require_hands_of_one_deck(hands: Sequence[Hand], dealer: Sequence[Card] = ()) -> None:
    """
    Refuse hands that one round, played with one deck, cannot have.

    Raises: BadHands for a hand named twice, or a dealt one without exactly five cards (that is a dead hand);
    CardRepeated.
    """
    _require_distinct(hands)
    field_errors = tuple(
        FieldError(f"/hands/{index}/cards", BadHands.code, f"A dealt hand has five cards, not {len(hand.cards)}.")
        for index, hand in enumerate(hands)
        if hand.status is HandStatus.DEALT and len(hand.cards) != CARDS_OF_A_DEALT_HAND
    )
    if field_errors:
        message = "A dealt hand has exactly five cards; one with another count is dead."
        raise BadHands(message, field_errors=field_errors)
    require_one_deck([*chain.from_iterable(hand.cards for hand in hands), *dealer])


def _require_distinct(hands: Sequence[Hand]) -> None:
    if len({hand.hand for hand in hands}) == len(hands):
        return
    counts = Counter(hand.hand for hand in hands)
    field_errors = tuple(
        FieldError(f"/hands/{index}/hand", BadHands.code, f"Hand {hand.hand} stands more than once.")
        for index, hand in enumerate(hands)
        if counts[hand.hand] > 1
    )
    if field_errors:
        message = "A hand stands more than once in the result."
        raise BadHands(message, field_errors=field_errors)
