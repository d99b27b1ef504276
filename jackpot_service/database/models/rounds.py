"""The tables of rounds: their bets, voids and corrections."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import literal_column
from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class RoundRow(Base):
    """
    One table's round. Locked by whatever changes it, so that bets, voids, closing, result, cancellation come in turn.

    `round_key` is ours and ordered by time; (table_id, round_id) is the caller's. `steps` counts its entries,
    `bet_count` and `weight` its live bets, `replays` the repeated calls that were answered. `game_number` is what the
    table shows its players, if a call has said it.
    """

    __tablename__ = "rounds"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    table_id: Mapped[str]
    round_id: Mapped[str]
    casino_id: Mapped[str]
    state: Mapped[str]
    rules_version: Mapped[Count]
    rate_sheet: Mapped[Count]
    steps: Mapped[Count]
    bet_count: Mapped[Count]
    weight: Mapped[Decimal]
    replays: Mapped[Count]
    opened_at: Mapped[datetime]
    game_number: Mapped[str | None]


NOT_ENDED = RoundRow.state.in_([literal_column("'open'"), literal_column("'closed'")])
"""WHERE this: rounds that wait for their end. No parameters, so that the planner knows that their index fits."""


class BetRow(Base):
    """
    A jackpot bet as it was accepted, by the entry that is its round's `step`. Never changed: a void is a row.

    Each month has a partition of its own, see `schema/months.py`.
    """

    __tablename__ = "bets"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    step: Mapped[Count]
    player_id: Mapped[str]
    hand: Mapped[str]
    currency: Mapped[str]
    stake_minor: Mapped[int]
    occurred_at: Mapped[datetime | None]


class VoidRow(Base):
    """A bet made void; a tombstone where the void came before its bet."""

    __tablename__ = "voids"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    step: Mapped[Count]
    is_tombstone: Mapped[bool]


class CorrectionRow(Base):
    """A correction of a settled round: `number` counts those of the round; the act says all of it."""

    __tablename__ = "corrections"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    number: Mapped[Count] = primary_key()
    act_seq: Mapped[int]
