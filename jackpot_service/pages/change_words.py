"""How members of a payload, and the values that are words of the contract, are read by people."""

from collections.abc import Mapping
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

AROUND: Final = frozenset({"document", "payload", "rates", "rules", "settings"})
"""Members that hold all others of a state: who reads one of those needs no name around it."""

_ONE_OF: Final[Mapping[str, str]] = {"awards": "award", "hands": "hand", "payout_tiers": "payout tier"}
"""Members that are lists, and what one item of them is called."""

_WORDS: Final = frozenset({*Tier, *Policy, *DeadHand, *Evidence, *Cause, *HandStatus, *KINDS})

_WORDED: Final = frozenset(
    {"cards", "cause", "dead_hand", "dealer", "evidence", "hands", "kind", "policy", "prizes", "status", "tier"}
)
"""Members that hold words and cards. Any other text may be a name, such as an id that looks like a card."""

_CARDS: Final = frozenset(rank + suit for rank in RANKS for suit in SUITS)


BETWEEN: Final = " · "
"""Between the names of members that hold each other."""


def name_of(path: tuple[str, ...]) -> str:
    """Name a place in a state: settings, payout_tiers, 1, from is "payout tier 1 · from"."""
    inner = [name for name in path[:-1] if name not in AROUND] + [*path[-1:]]
    parts: list[str] = []
    for before, name in zip(["", *inner], inner, strict=False):
        if before in _ONE_OF:
            parts[-1] = f"{_ONE_OF[before]} {name}"
        else:
            parts.append(figures.label(name.removesuffix("_id")))
    return BETWEEN.join(parts)


def holds_words(path: tuple[str, ...]) -> bool:
    """Whether a place in a state, which is no member of an item, holds words of the contract or cards."""
    return not _WORDED.isdisjoint(path[-1:])


def word(text: str) -> str:
    """Write a word of the contract, or a card, as people do; any other text stays as it is."""
    if text in _CARDS:
        card = shown_card(Card(text))
        return f"{card.rank}{card.pip}"
    return figures.label(text) if text in _WORDS else text
