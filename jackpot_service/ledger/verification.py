"""How far a verification of the books has come, what a later one goes on from, and what it reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import ClassVar, Final, NamedTuple

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger.mismatches import Mismatch

BEFORE_ALL_ROUNDS: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class VerifiedStripe:
    """A stripe's entries up to a seq: the head after it, and what they put into the pools."""

    seq: int
    head: bytes
    pools: Pools


@dataclass(frozen=True, slots=True)
class Verified:
    """
    How far a book is verified: its chains and acts to one instant, its rounds, as they were then, to a round key.

    `acts` is the seq of the last act then. `held` is what `awards:held` held, less what the held awards of the verified
    rounds cost: zero when all rounds are. `is_whole` says that they are, and that their settlements were compared.
    `reconciled_to` is the last day that was reconciled, as a whole or in part, and verified.
    """

    stripes: Mapping[int, VerifiedStripe] = field(default_factory=dict)
    acts: int = 0
    last_round_key: int = BEFORE_ALL_ROUNDS
    held: Decimal = ZERO
    is_whole: bool = False
    reconciled_to: date = date.min

    def seq_on(self, stripe_no: int) -> int:
        """The last verified entry on a stripe; 0 where there is none."""
        stripe = self.stripes.get(stripe_no)
        return 0 if stripe is None else stripe.seq


NOTHING: Final = Verified()
"""Of a book of which nothing is verified yet."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a verification that has found nothing wrong has come in each book, and what it has checked so far."""

    books: Mapping[str, Verified]
    is_whole: bool
    entries: int
    rounds: int
    bets: int
    awards: int


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

    An entry is looked at in its chain, in the sums of its day, and with its round, or with the documents of its act.
    These take as different a time as the numbers say, so that the rest can be reckoned from what was done. They were
    measured over rounds of seven bets, with and without results. Several processes take them side by side.
    """

    IN_CHAIN: ClassVar = 2
    IN_SUMS: ClassVar = 1
    IN_ROUND: ClassVar = 13
    IN_ACT: ClassVar = 18

    total: int = 0
    done: int = 0


OnReached = Callable[[Reached], None]
