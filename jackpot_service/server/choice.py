"""
Which worker should have a connection.

Bets that wait together share a commit, and each worker makes commits of its own. Two workers that are half at work
commit twice as often as one, so each bet costs more and takes longer. Therefore the first worker has the connections
until it is full: its groups would still be large without a part of what it has in hand. Then the next takes part.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from jackpot_service.server.board import State
from jackpot_service.server.clients import MOST_CONNECTIONS

FEW: Final = 128
"""Connections. A worker that has more gets none back: a thousand displays are not for one worker."""

FULL: Final = 128 * 1024
"""Bytes in hand: of sixty requests with a bet each, or of eleven with a hundred bets each."""

MANY: Final = MOST_CONNECTIONS - FEW
"""Connections. A worker that has so many gets none: soon it would have to cut one for each."""

EVEN: Final = 3 / 4
"""A worker that has so much of what another has in hand is left as it is: both numbers go up and down by themselves."""


def part_of(state: State) -> float:
    """Return what a connection has of the bytes in hand, in the mean."""
    return state.in_hand / max(state.connections, 1)


class Move(NamedTuple):
    """To which worker the next connections go, and how many."""

    home: int
    connections: int


def next_move(mine: int, states: Mapping[int, State]) -> Move | None:
    """Return what `mine` should pass on of its connections, as they are answered, if anything."""
    me = states[mine]
    if not me.connections:
        return None
    if me.in_hand < FULL:
        return _move_back(mine, states)
    with_room = [number for number, state in states.items() if state.connections < MANY]
    least = min(with_room, key=lambda number: states[number].in_hand, default=mine)
    if states[least].in_hand > EVEN * me.in_hand:
        return None
    half = int((me.in_hand - states[least].in_hand) / part_of(me) / 2)
    return Move(least, half) if half else None


def _move_back(mine: int, states: Mapping[int, State]) -> Move | None:
    for number in range(mine):
        earlier = states.get(number)
        if earlier is not None and earlier.connections < FEW and earlier.in_hand + states[mine].in_hand < FULL / 2:
            return Move(number, FEW - earlier.connections)
    return None
