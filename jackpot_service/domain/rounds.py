"""A round as the ledger knows it, and the three ways in which a call can come too late for it."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.money import EXACT


class RoundState(StrEnum):
    """Open takes bets; the other two are final."""

    OPEN = "open"
    SETTLED = "settled"
    CANCELLED = "cancelled"


class RoundSettled(Conflict):
    """The round has its result."""

    code = "round-settled"
    title = "The round is settled"


class RoundCancelled(Conflict):
    """The round was cancelled."""

    code = "round-cancelled"
    title = "The round is cancelled"


@dataclass(frozen=True, slots=True)
class Round:
    """
    One table's round, with the rules version and the rate sheet pinned when it was first seen.

    `steps` counts its entries; `bet_count` and `weight` (base units) are of its live bets.
    """

    jackpot_id: str
    round_key: int
    table_id: str
    round_id: str
    casino_id: str
    state: RoundState
    rules_version: int
    rate_sheet: int
    steps: int
    bet_count: int
    weight: Decimal
    opened_at: datetime

    def require_open(self) -> None:
        """Raises: RoundSettled or RoundCancelled."""
        if self.state is RoundState.SETTLED:
            message = f"Round {self.round_id} of table {self.table_id} already has its result."
            raise RoundSettled(message, table_id=self.table_id, round_id=self.round_id)
        if self.state is RoundState.CANCELLED:
            message = f"Round {self.round_id} of table {self.table_id} was cancelled."
            raise RoundCancelled(message, table_id=self.table_id, round_id=self.round_id)

    def stepped(self, *, bets: int = 0, weight: Decimal = Decimal(0), state: RoundState = RoundState.OPEN) -> "Round":
        """The round after one more entry, with so many live bets and so much weight more (or less)."""
        return replace(
            self,
            state=state,
            steps=self.steps + 1,
            bet_count=self.bet_count + bets,
            weight=EXACT.add(self.weight, weight),
        )


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round, and the cycle it settled or was cancelled in; while it is open, the running one."""

    round: Round
    cycle: int
