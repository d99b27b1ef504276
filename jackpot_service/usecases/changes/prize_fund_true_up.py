"""A true-up of a prize fund: the house pays what it lacks, or takes what it has too much."""

from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain import posting_rules
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import POOL_DECIMALS, ZERO, has_decimals, negated, plain
from jackpot_service.usecases.changes.jackpots import BadAmount, JackpotKind, JackpotState, facts_of_pools
from jackpot_service.usecases.changes.kinds import Done, Subject
from jackpot_service.usecases.fields import Amount, Identifier
from jackpot_service.usecases.payloads import Payload


@dataclass(frozen=True, slots=True)
class TrueUp:
    """By how much a prize fund is moved towards zero; None is exactly to zero, whatever it holds when approved."""

    jackpot_id: str
    amount: Decimal | None = None


class TrueUpPayload(Payload):
    """A prize fund is brought to zero, or towards it."""

    makes = TrueUp

    jackpot_id = Identifier(required=True)
    amount = Amount(metadata={"description": "What the fund gets; negative: gives. Without it: exactly to zero."})


class PrizeFundTrueUp(JackpotKind[TrueUp]):
    """True up a prize fund."""

    name = "prize-fund-true-up"
    payload = TrueUpPayload
    acts = {EntryKind.PRIZE_FUND_TRUED_UP: "jackpot.prize-fund.trued-up"}  # noqa: RUF012  declared in `Kind`

    def subject(self, request: TrueUp) -> Subject:
        """Name the prize fund."""
        return Subject(f"prize fund of jackpot {request.jackpot_id}", request.jackpot_id)

    def decide(self, state: JackpotState, request: TrueUp) -> Done:
        """
        Decide a true-up: a surplus goes to the house, a shortage is paid by it; the fund's deviation is its risk.

        Raises: BadAmount if there is nothing to true up, or the amount leads away from zero or beyond it.
        """
        missing = negated(state.pools.prize_fund)
        amount = missing if request.amount is None else request.amount
        is_towards_zero = min(missing, ZERO) <= amount <= max(missing, ZERO)
        if not amount or not has_decimals(amount, POOL_DECIMALS) or not is_towards_zero:
            message = (
                f"The prize fund holds {plain(state.pools.prize_fund)} {state.base}; "
                f"it is trued up by {plain(missing)} at most."
            )
            raise BadAmount(message)
        postings = posting_rules.for_true_up(amount, base=state.base)
        recorded = {
            "amount": plain(amount),
            **facts_of_pools(state.pools + postings.pools()),
            "positions": list(state.positions),
        }
        return Done(EntryKind.PRIZE_FUND_TRUED_UP, facts_of_pools(state.pools), recorded, postings)
