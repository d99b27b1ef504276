"""A recovery of house seed: the house takes back money of its own that the meter no longer needs; or puts some in."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.jackpots import (
    JackpotKind,
    JackpotState,
    moved,
    require_amount,
    require_within,
)
from jackpot_service.usecases.fields import Amount


class SeedCommitted(Refused, code="seed-committed", title="The house's seed is not free"):
    """The amount is more than the house has free: the rest is not there, or guarantees what players were promised."""


@dataclass(frozen=True, kw_only=True)
class RecoverSeed(JackpotKind):
    """The house takes back money of its own from the meter, or puts some in."""

    name = "seed-recovery"
    about = "seed of jackpot {0.jackpot_id}"
    acts: ClassVar = {EntryKind.SEED_RECOVERED: "jackpot.seed.recovered"}
    policy = MONEY_BY_HAND

    amount: Annotated[Decimal, Amount(metadata={"description": "The amount that the house gets; negative: pays in."})]

    def decide(self, state: JackpotState) -> Done:
        """
        Decide a recovery. Players' money below zero is filled from the house's part first.

        Raises: BadAmount; SeedCommitted; AboveLimit if seed would be paid in that the limit keeps off offer.
        """
        require_amount(self.amount)
        pools, base = state.pools, state.base
        fill = posting_rules.for_fill(pools.fill, base=base)
        postings = fill + posting_rules.for_recovery(self.amount, base=base)
        after = pools + postings.pools()
        if self.amount < ZERO:
            require_within(state.rules.limit, after, base=base)
        else:
            _require_free(self.amount, after, state)
        return moved(EntryKind.SEED_RECOVERED, state, postings, {"amount": plain(self.amount)})


def _require_free(amount: Decimal, after: Pools, state: JackpotState) -> None:
    """Raises: SeedCommitted if the house has not so much, or less would be on offer than was promised."""
    if after.meter_house < ZERO:
        held = plain(after.meter_house + amount)
        message = f"Of the meter {held} {state.base} is the house's."
        raise SeedCommitted(message)
    offered, promised = after.on_offer(state.rules.limit), _promised(state)
    if offered < promised:
        message = f"The meter would offer {plain(offered)}; this cycle was promised {plain(promised)} {state.base}."
        raise SeedCommitted(message)


def _promised(state: JackpotState) -> Decimal:
    """The promised start of the running cycle: the reset amount of its rules, of the first also the base amount."""
    reset_amount = state.rules.reset_amount
    return max(reset_amount, state.base_amount) if state.cycle == 1 else reset_amount
