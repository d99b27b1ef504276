"""What a verification of the books reports: how much was checked, what is wrong, how far it has come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from jackpot_service.ledger.mismatches import Mismatch
from jackpot_service.ledger.verified import Reached


class NotCompared(NamedTuple):
    """A report, the version in which a closed period kept it, and its version now; None if it is gone."""

    name: str
    kept_in: int
    now_in: int | None


@dataclass(frozen=True, slots=True)
class Verification:
    """
    How many books, entries, rounds, bets and awards were checked, and every mismatch found.

    `not_compared` are the reports of closed periods that could not be, and of how many periods: no mismatches.
    """

    books: int
    entries: int
    rounds: int
    bets: int
    awards: int
    mismatches: tuple[Mismatch, ...]
    not_compared: Mapping[NotCompared, int]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.mismatches


@dataclass(frozen=True, slots=True)
class Progress:
    """
    Where a verification stands: in which book, and what it has checked of all books so far.

    Of `total` looks at entries it has taken `done`, see `Looks`.
    """

    book: str
    entries: int
    rounds: int
    done: int
    total: int


OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class Looks:
    """
    How many looks at entries are due, and how many were taken.

    An entry is looked at in its chain, in the sums of its day, and with its round. These take as different a time as
    the numbers say (measured over a month of ten million bets), so that what is left can be told from what was done.
    """

    IN_CHAIN: ClassVar = 1
    IN_SUMS: ClassVar = 2
    IN_ROUND: ClassVar = 9

    total: int = 0
    done: int = 0


OnReached = Callable[[Reached], None]
