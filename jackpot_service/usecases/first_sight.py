"""A round that is first seen: by a bet, a void, a result without bets, or a cancellation."""

from datetime import datetime
from decimal import Decimal

from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import rounds
from jackpot_service.records.pinned import Table
from jackpot_service.records.standing import Standing


def pin(table: Table, round_id: str, in_force: Standing, *, now: datetime) -> Round:
    """
    Pin the rules version and the rate sheet in force to a round that has no entry yet.

    Raises: NoRate if no rate sheet of the jackpot's base currency is in force.
    """
    return Round(
        jackpot_id=in_force.jackpot_id,
        round_key=rounds.new_key(now),
        table_id=table.table_id,
        round_id=round_id,
        casino_id=table.casino_id,
        state=RoundState.OPEN,
        rules_version=in_force.rules_version,
        rate_sheet=in_force.require_sheet(),
        steps=0,
        bet_count=0,
        weight=Decimal(0),
        opened_at=now,
    )
