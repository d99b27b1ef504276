"""What a verification of the books reports: how much was checked, what is wrong, how far it has come."""

from collections.abc import Callable
from dataclasses import dataclass

from jackpot_service.ledger.mismatches import Mismatch
from jackpot_service.ledger.verified import Reached


@dataclass(frozen=True, slots=True)
class Verification:
    """How many books, entries, rounds, bets and awards were checked, and every mismatch found."""

    books: int
    entries: int
    rounds: int
    bets: int
    awards: int
    mismatches: tuple[Mismatch, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.mismatches


@dataclass(frozen=True, slots=True)
class Progress:
    """
    Where a verification stands: in which book, and what it has checked of all books so far.

    Of `total` looks at an entry it has taken `done`: each is looked at twice, in its chain and with its round.
    """

    book: str
    entries: int
    rounds: int
    done: int
    total: int


OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class Looks:
    """How many looks at entries are due, and how many were taken."""

    total: int = 0
    done: int = 0


OnReached = Callable[[Reached], None]
