"""Whether those who are answered ask again at once, as a program does that has the next bet ready."""

from typing import Final

from jackpot_service.database.fair_queue import Path

AT_ONCE_S: Final = 0.002

CALLS_REMEMBERED: Final = 16
"""The share is a mean over about so many calls: each weighs a sixteenth less than the next."""

MOST_REMEMBERED: Final = 1000
"""Flows that were answered and have not asked since."""


class Callers:
    """
    Watches the flows of calls: which have been answered, and how soon they ask again.

    Tables that play ask once a round; a program that waits for one answer before it sends the next bet is back within a
    millisecond. It pays to wait for the second kind, and never for the first.
    """

    def __init__(self) -> None:
        self._answered: dict[Path, float] = {}
        self._share = 0.0

    @property
    def ask_again_at_once(self) -> bool:
        """Whether more than half of the calls of late came from a flow that was answered just before."""
        return self._share > 1 / 2

    def ask(self, path: Path, *, now: float) -> None:
        """Note that a flow asks."""
        answered_at = self._answered.pop(path, None)
        is_back = answered_at is not None and now - answered_at < AT_ONCE_S
        self._share += (is_back - self._share) / CALLS_REMEMBERED

    def answer(self, path: Path, *, now: float) -> None:
        """Note that a flow is answered."""
        self._answered.pop(path, None)  # Those answered last are the last to be forgotten.
        self._answered[path] = now
        if len(self._answered) > MOST_REMEMBERED:
            del self._answered[next(iter(self._answered))]
