"""The rounds of batches of bets, as the books hold them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.bets import Bets, BookedBet
from jackpot_service.domain.rounds import Round
from jackpot_service.records import bets as bet_records
from jackpot_service.records import rounds, settings_in_force
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.settings_in_force import InForce


@dataclass(frozen=True, slots=True)
class BatchSeen:
    """The rows of a round that a batch may meet; none, if the round was never seen."""

    round: Round | None = None
    booked: Sequence[BookedBet] = ()
    tombstones: Collection[str] = ()


def read(
    session: Session, jackpot_id: str, names: Sequence[RoundName], batches: Sequence[Bets], *, came: list[datetime]
) -> tuple[InForce, Mapping[RoundName, BatchSeen]]:
    """
    Read what was in force when each batch came, and what the books hold of the rounds that are known.

    Locks these rounds, in the order of table and round id.
    """
    with pipelined(session) as pipe:
        cursor = settings_in_force.send_read(pipe, jackpot_id, came=came, names=names)
    in_force = settings_in_force.in_force_of(cursor, jackpot_id)
    known = [number - 1 for number in in_force.rounds_seen]
    if not known:
        return in_force, {}
    return in_force, _lock_and_read(
        session, jackpot_id, [names[place] for place in known], [batches[place] for place in known]
    )


def _lock_and_read(
    session: Session, jackpot_id: str, names: Sequence[RoundName], batches: Sequence[Bets]
) -> dict[RoundName, BatchSeen]:
    """Lock the rounds, then read, in later statements, what they hold."""
    with pipelined(session) as pipe:
        round_cursor = rounds.send_lock(pipe, jackpot_id, names)
        booked_cursor = bet_records.send_of_batches(pipe, jackpot_id, names, batches)
        tombstone_cursor = bet_records.send_tombstones(pipe, jackpot_id, names)
    booked = bet_records.booked_by_round(booked_cursor)
    tombstones = bet_records.tombstones_of(tombstone_cursor)
    return {
        RoundName(round_.table_id, round_.round_id): BatchSeen(
            round_, booked.get(round_.round_key, ()), tombstones.get(round_.round_key, {}).keys()
        )
        for round_ in rounds.rounds_of(round_cursor)
    }
