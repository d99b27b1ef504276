"""How a round ended, in the words of its table server: a result or a cancellation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.domain.cards import Card, require_one_deck
from jackpot_service.domain.errors import Flaw, Refused
from jackpot_service.domain.verdict import Hand, HandStatus

CARDS_OF_A_DEALT_HAND = 5


class BadHands(Refused):
    """The hands of a result are not those of a round: one twice, or dealt with a wrong number of cards."""

    code = "hands-invalid"
    title = "Invalid hands"


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
        """What must be equal for a repeated result to be a replay."""
        return self.bet_count, hands_content(self.hands), tuple(sorted(self.dealer))

    @property
    def dead_hands(self) -> frozenset[str]:
        """The hands whose bets are refunded."""
        return frozenset(hand.hand for hand in self.hands if hand.status is HandStatus.DEAD)


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A round's cancellation; hands may be told, and are stored."""

    reason: str
    hands: tuple[Hand, ...] = ()
    occurred_at: datetime | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """What must be equal for a repeated cancellation to be a replay."""
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
    flaws = tuple(
        Flaw(f"/hands/{index}/cards", BadHands.code, f"A dealt hand has five cards, not {len(hand.cards)}.")
        for index, hand in enumerate(hands)
        if hand.status is HandStatus.DEALT and len(hand.cards) != CARDS_OF_A_DEALT_HAND
    )
    if flaws:
        message = "A dealt hand has exactly five cards; one with another count is dead."
        raise BadHands(message, flaws=flaws)
    require_one_deck([*(card for hand in hands for card in hand.cards), *dealer])


def _require_distinct(hands: Sequence[Hand]) -> None:
    counts = Counter(hand.hand for hand in hands)
    flaws = tuple(
        Flaw(f"/hands/{index}/hand", BadHands.code, f"Hand {hand.hand} stands more than once.")
        for index, hand in enumerate(hands)
        if counts[hand.hand] > 1
    )
    if flaws:
        message = "A hand stands more than once in the result."
        raise BadHands(message, flaws=flaws)
