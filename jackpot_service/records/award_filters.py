"""Which awards a list holds, in which order, and where it goes on."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from jackpot_service.domain.awards import AwardState


class Position(NamedTuple):
    """Where an award stands in a list: awards stand in the order of their rounds."""

    round_key: int
    award_id: str


@dataclass(frozen=True, slots=True)
class AwardFilters:
    """
    Which awards to list: None and nothing stand for all. `after` is the position of the last one before.

    `is_open` leaves those of which something is still to be paid or decided, `claimable_before` those that are to be
    paid and whose claim period ends before an instant. The latest rounds come first, or the oldest; with a player
    always the latest.
    """

    state: AwardState | None = None
    jackpot_id: str | None = None
    casino_id: str | None = None
    player_id: str | None = None
    after: Position | None = None
    is_open: bool = False
    claimable_before: datetime | None = None
    is_oldest_first: bool = False
