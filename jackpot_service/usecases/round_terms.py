"""The terms of a round, fixed when it is opened: by a bet, a void, a result without bets, or a cancellation."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import rounds
from jackpot_service.records.pinned import Table
from jackpot_service.records.settings_in_force import InForce


@dataclass(frozen=True, slots=True)
class RoundTerms:
    """
    The terms that a round is opened with if its table's request is the first that names it.

    `place` is that of the request among those that the settings in force were asked for.
    """

    table: Table
    in_force: InForce
    place: int = 0

    def open_round(self, round_id: str, *, now: datetime) -> Round:
        """
        Open a round that has no entry yet, under the rules version and the rate sheet in force.

        Raises: NoRate if no rate sheet of the jackpot's base currency was in force.
        """
        return Round(
            jackpot_id=self.in_force.jackpot_id,
            round_key=rounds.new_key(now),
            table_id=self.table.table_id,
            round_id=round_id,
            casino_id=self.table.casino_id,
            state=RoundState.OPEN,
            rules_version=self.in_force.rules_version,
            rate_sheet=self.in_force.require_sheet(self.place),
            steps=0,
            bet_count=0,
            weight=Decimal(0),
            opened_at=now,
        )
