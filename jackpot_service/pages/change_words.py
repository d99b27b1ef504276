"""How the values of changes that are words of the contract, or cards, are read by people."""

from typing import Final

from jackpot_service.domain.cards import RANKS, SUITS, Card
from jackpot_service.domain.outcomes import HandStatus
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import DeadHand, Policy
from jackpot_service.pages import figures
from jackpot_service.pages.cards import shown_card
from jackpot_service.usecases.changes.adjustment import Cause
from jackpot_service.usecases.changes.registry import KINDS

_WORDS: Final = frozenset({*Tier, *Policy, *DeadHand, *Evidence, *Cause, *HandStatus, *KINDS})

_CARDS: Final = frozenset(rank + suit for rank in RANKS for suit in SUITS)


def word(text: str) -> str:
    """Write a word of the contract, or a card, as people do; any other text stays as it is."""
    if text in _CARDS:
        card = shown_card(Card(text))
        return f"{card.rank}{card.pip}"
    return figures.label(text) if text in _WORDS else text
