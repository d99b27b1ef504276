"""Bets as a table server sends them, legal unless a test says otherwise."""

from typing import Any


def bet(bet_id: str = "b1", **stated: Any) -> dict[str, Any]:
    """A bet of one unit on hand 1, by a player of its own."""
    legal = {"bet_id": bet_id, "player_id": f"player-of-{bet_id}", "hand": "1", "currency": "EUR", "stake_minor": 100}
    return legal | stated
