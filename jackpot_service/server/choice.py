"""
Which worker should have a connection.

Bets that wait together share a commit, and each worker makes commits of its own. Two workers that are half at work
commit twice as often as one, so each bet costs more and takes longer. Therefore the first worker has all connections
until it is full: its groups would still be large without a part of what it has in hand. Then the next takes part.
"""

from collections.abc import Mapping
from typing import Final

from jackpot_service.server.board import State

FEW: Final = 128
"""Connections. More are shared out evenly, whatever they ask: a thousand displays are not for one worker."""

FULL: Final = 128 * 1024
"""Bytes in hand: of some two hundred small requests, or of fourteen with a hundred bets."""


def home_of_new(mine: int, states: Mapping[int, State]) -> int:
    """Return the number of the worker that should have a new connection, which `mine` has accepted."""
    for number, state in sorted(states.items()):
        if state.connections < FEW and state.in_hand < FULL:
            return number
    fewest = min(states, key=lambda number: states[number].connections)
    return fewest if states[fewest].connections < states[mine].connections else mine


def home_of_next(mine: int, states: Mapping[int, State]) -> int | None:
    """Return the number of the worker that should have the next connection of `mine` that is answered, if any."""
    me, others = states[mine], {number: state for number, state in states.items() if number != mine}
    if not others or not me.connections:
        return None
    if me.in_hand >= FULL:
        least = min(others, key=lambda number: others[number].in_hand)
        a_part = me.in_hand / me.connections
        return least if others[least].in_hand + 2 * a_part <= me.in_hand else None
    for number, other in sorted(others.items()):
        if number < mine and other.connections < FEW and other.in_hand + me.in_hand < FULL / 2:
            return number
    return None
