"""The life of a jackpot: open, perhaps suspended for a while, once retired."""

from collections.abc import Sequence
from enum import StrEnum

from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts


class Life(StrEnum):
    """Where a jackpot stands in its life. Only an open one takes bets; a retired one never does again."""

    OPEN = "open"
    SUSPENDED = "suspended"
    RETIRED = "retired"


class JackpotRetired(Conflict, code="jackpot-retired", title="The jackpot is retired"):
    """The jackpot's life is over: what it held went elsewhere, and nothing is put into it again."""


def require_not_retired(jackpot_id: str, life: Life) -> None:
    """Raises: JackpotRetired."""
    if life is Life.RETIRED:
        message = f"Jackpot {jackpot_id} is retired."
        raise JackpotRetired(message, jackpot_id=jackpot_id)


def facts_of_life(life: Life, *, positions: Sequence[int]) -> Facts:
    """Write where a jackpot stands from now on, and the positions at which it was seen."""
    return {"state": life.value, "positions": list(positions)}
