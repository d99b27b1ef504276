"""How far books are verified: values that a later verification goes on from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.money import ZERO

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
    `reconciled_to` is the last day that was reconciled, and verified.
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
