"""The weeks before the demo begins: the same tables, whose evenings are played by a clock that stands still between."""

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from jackpot_client import JackpotClient
from jackpot_demo import plan
from jackpot_demo.figures import Figures
from jackpot_demo.office import Office
from jackpot_demo.scene import SCRIPTED_TABLE, TABLES
from jackpot_demo.tables import TableServer

ROUNDS_AN_EVENING: Final = 2
"""Rounds of each table: few, so that weeks are played in seconds."""

_OPENS_AT: Final = timedelta(hours=14)
_EVENING: Final = timedelta(hours=9)
_A_WEEK: Final = 7
_DAYS_OF_HITS: Final = (5, 24)
"""The days, counted from the first, on which the scripted table deals a royal flush."""


class PastClock:
    """A clock that stands still unless somebody moves it on; it never goes back."""

    def __init__(self, moment: datetime) -> None:
        """Let it stand at a moment."""
        self._moment = moment

    def __call__(self) -> datetime:
        """Return the moment at which it stands."""
        return self._moment

    def move_to(self, moment: datetime) -> None:
        """Move it on to a moment, unless that is over."""
        self._moment = max(self._moment, moment)


class _Turn(NamedTuple):
    """A round to be played: when, where, and whether it is a scripted royal flush."""

    at: datetime
    table_id: str
    is_scripted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Days that are over, from a midnight on; nothing of them is later than `ends_at`."""

    begins_at: datetime
    ends_at: datetime
    seed: int

    def play(
        self,
        clients: Mapping[str, JackpotClient],
        office: Office,
        clock: PastClock,
        *,
        on_round: Callable[[int, int], None],
        stop: threading.Event,
    ) -> Figures:
        """
        Play each evening, and have each morning's work done; return what it came to.

        `clients` are those of the tables, by casino; they and the office reach a service whose clock is `clock`.
        `on_round` is called with how many rounds are played, of how many at most.

        Raises: DemoBug; ClientError.
        """
        rng = random.Random(self.seed)
        played = Figures()
        servers = {table.table_id: TableServer(table=table, client=clients[table.casino_id]) for table in TABLES}
        mornings = list(self._mornings())
        most = len(mornings) * len(TABLES) * ROUNDS_AN_EVENING
        for number, morning in enumerate(mornings):
            clock.move_to(morning)
            if number and not number % _A_WEEK:
                office.begin_week(rng, week_from=morning - timedelta(days=_A_WEEK), week_to=morning)
            for turn in self._evening(rng, number, morning):
                if stop.is_set():
                    return played
                clock.move_to(turn.at)
                server = servers[turn.table_id]
                drawn = (plan.script_royal_flush if turn.is_scripted else plan.draw)(rng, server.table)
                played += server.play(drawn).figures
                on_round(played.rounds, most)
                if turn.is_scripted and number == _DAYS_OF_HITS[0]:
                    office.release(table_id=turn.table_id, round_id=drawn.round_id)
        office.leave_work()
        return played

    def _mornings(self) -> Iterator[datetime]:
        morning = self.begins_at
        while morning < self.ends_at:
            yield morning
            morning += timedelta(days=1)

    def _evening(self, rng: random.Random, number: int, morning: datetime) -> list[_Turn]:
        """The rounds of a day, in their order; the tables begin them at any minute."""
        minutes = _EVENING // timedelta(minutes=1)
        turns = [
            _Turn(
                morning + _OPENS_AT + timedelta(minutes=rng.randrange(minutes)),
                table.table_id,
                is_scripted=table is SCRIPTED_TABLE and number in _DAYS_OF_HITS and round_number == 0,
            )
            for table in TABLES
            for round_number in range(ROUNDS_AN_EVENING)
        ]
        return sorted(turn for turn in turns if turn.at < self.ends_at)
