"""Chips: the one vocabulary of states, each by its word and by a colour that says how it matters."""

from typing import Final

from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.lives import Life
from jackpot_service.domain.rounds import RoundState

GOOD: Final = "good"
GOLD: Final = "gold"
"""For money won, and for what waits for a person."""
WRONG: Final = "wrong"
QUIET: Final = "quiet"

KINDS: Final = {
    RoundState.OPEN: GOOD,
    RoundState.CLOSED: GOLD,
    RoundState.SETTLED: QUIET,
    RoundState.CANCELLED: WRONG,
    AwardState.PAYABLE: GOOD,
    AwardState.HELD: GOLD,
    AwardState.REJECTED: WRONG,
    AwardState.STOPPED: GOLD,
    AwardState.PART_PAID: GOOD,
    AwardState.PAID: GOOD,
    AwardState.UNCLAIMED: GOLD,
    AwardState.FORFEITED: WRONG,
    AwardState.REVERSED: QUIET,
    Life.SUSPENDED: GOLD,
    Life.RETIRED: QUIET,
}
"""By the state's word. `Life.OPEN` is written and coloured like an open round's."""


def chip_kind(word: str) -> str:
    """Return the colour of a state's chip; a word that is no state is quiet."""
    return _BY_WORD.get(word, QUIET)


_BY_WORD: Final = {str(state): kind for state, kind in KINDS.items()}
