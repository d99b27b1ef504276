"""
A month of play, and a day before and after it, booked by two processes as if it were going on.

Each process plays at half of the tables, a few hours at a time. They keep step: time never falls on a stripe, so that
a process ahead of the other would draw the other's entries into its own day. The month is over, since the database
books nothing ahead of its own clock; so the books must be new, without an act of today.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from multiprocessing import get_context

import sqlalchemy
from sqlalchemy import URL

from bench import databases, house, servers
from bench.play import BETS_A_ROUND, Tables, Turn
from jackpot_service.domain.rounds import Month

DAYS = 30

_DAY = timedelta(days=1)
_STEP = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Pace:
    """By how many processes the rounds are played, and of how many rounds one transaction books the bets."""

    processes: int
    group: int


FAST = Pace(processes=2, group=100)
"""Entries are booked up to three hours after they were received, which `verify` would report of each."""

IN_ORDER = Pace(processes=1, group=1)
"""Each round ends before the next begins, as long as there are fewer than 36 in three hours."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days that are asked about: `DAYS` of them from the beginning of a month."""

    begins_at: datetime

    @classmethod
    def before(cls, now: datetime) -> "Calendar":
        """Return the days of the month before the last: they are over, and so is the day after."""
        return cls(Month.of(now).later(-2).begins_at)

    @property
    def ends_at(self) -> datetime:
        """When the days are over."""
        return self.begins_at + DAYS * _DAY

    def steps(self) -> Iterator[datetime]:
        """When each few hours begin that are played, from the day before to the day after."""
        begins_at = self.begins_at - _DAY
        while begins_at < self.ends_at + _DAY:
            yield begins_at
            begins_at += _STEP


def play(url: URL, calendar: Calendar, pace: Pace, *, bets: int, log: Callable[[str], None]) -> None:
    """
    Set up a house in a database without tables, and play so many bets in its month, spread evenly.

    Commits do not wait for the disk meanwhile: nothing is measured yet, and who loses a part begins anew.
    """
    servers.upgrade(url)
    house.set_up(url, now=calendar.begins_at - 2 * _DAY)
    database = url.database
    databases.execute(url, f"ALTER DATABASE {database} SET synchronous_commit = off")
    rounds = bets // BETS_A_ROUND // (DAYS * (_DAY // _STEP))
    with ProcessPoolExecutor(pace.processes, get_context("spawn")) as processes:
        for begins_at in calendar.steps():
            if begins_at.hour == 0:
                log(f"reports: playing {begins_at:%d %B}")
            shares = [_Share(url, begins_at, pace, share, rounds // pace.processes) for share in range(pace.processes)]
            list(processes.map(_play, shares))
    databases.execute(url, f"ALTER DATABASE {database} RESET synchronous_commit", "VACUUM (ANALYZE)", "CHECKPOINT")


@dataclass(frozen=True, slots=True)
class _Share:
    """What one process plays of a few hours: so many rounds, spread evenly over them and over its tables."""

    url: URL
    begins_at: datetime
    pace: Pace
    number: int
    rounds: int

    @property
    def seed(self) -> int:
        return round(self.begins_at.timestamp()) + self.number

    def turns(self) -> Iterator[Turn]:
        """The rounds, one after another; the first process deals the first of a week a royal flush."""
        tables = list(house.CASINO_OF)[self.number :: self.pace.processes]
        since_monday = timedelta(days=self.begins_at.weekday(), hours=self.begins_at.hour)
        for place in range(self.rounds):
            is_hit = not (since_monday or self.number or place)
            yield Turn(tables[place % len(tables)], self.begins_at + _STEP * place / self.rounds, is_hit)


def _play(share: _Share) -> None:
    turns, tables = share.turns(), Tables(_engine(share.url), seed=share.seed)
    while group := list(islice(turns, share.pace.group)):
        tables.play(group)


@cache
def _engine(url: URL) -> sqlalchemy.Engine:
    """The one of a process, to its end: statements are prepared once."""
    return house.engine(url)
