"""A true-up of a prize fund: the house pays what it lacks, or takes what it has too much."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from jackpot_service.domain import posting_rules
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import POOL_DECIMALS, ZERO, has_decimals, plain
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.jackpots import BadAmount, JackpotKind, JackpotState, moved
from jackpot_service.usecases.fields import Amount


@dataclass(frozen=True, kw_only=True)
class TrueUp(JackpotKind):
    """A prize fund is brought to zero, or towards it; without an amount exactly to zero, whatever it holds then."""

    name = "prize-fund-true-up"
    about = "prize fund of jackpot {0.jackpot_id}"
    acts: ClassVar = {EntryKind.PRIZE_FUND_TRUED_UP: "jackpot.prize-fund.trued-up"}
    policy = MONEY_BY_HAND

    amount: Annotated[
        Decimal | None,
        Amount(metadata={"description": "The amount the fund gets; negative: gives. Without it: exactly to zero."}),
    ] = None

    def decide(self, state: JackpotState) -> Done:
        """
        Decide a true-up: a surplus goes to the house, a shortage is paid by it; the fund's deviation is its risk.

        Raises: BadAmount if there is nothing to true up, or the amount leads away from zero or beyond it.
        """
        missing = -state.pools.prize_fund
        amount = missing if self.amount is None else self.amount
        is_towards_zero = min(missing, ZERO) <= amount <= max(missing, ZERO)
        if not amount or not has_decimals(amount, POOL_DECIMALS) or not is_towards_zero:
            message = (
                f"The prize fund holds {plain(state.pools.prize_fund)} {state.base}; "
                f"it is trued up by {plain(missing)} at most."
            )
            raise BadAmount(message)
        postings = posting_rules.for_true_up(amount, base=state.base)
        return moved(EntryKind.PRIZE_FUND_TRUED_UP, state, postings, {"amount": plain(amount)})
