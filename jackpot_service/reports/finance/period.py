"""
The part of a jackpot's book that a report covers: whole days, which are kept in sums, and the entries of partial days.

A statement is about all entries of a part, with `bounds`; or about its whole days and the entries of its partial days,
both with `divided`. Functions of the schema look these entries up: `entries_between` and others.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions

# The fence has each stripe's entries looked up by their seqs, few or many. Joined, all entries that there are might be
# read for those of a few hours: no statistics say how many are between two positions.
BETWEEN: Final = """
    unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
        AS part (stripe_no, start, upto)
    CROSS JOIN LATERAL (
        SELECT {columns}
        FROM {relation} e
        WHERE e.jackpot_id = :jackpot_id AND e.stripe_no = part.stripe_no AND e.seq > part.start AND e.seq <= part.upto
          AND {condition}
        OFFSET 0  -- Each stripe by its seqs: no statistics count the rows between two.
    ) AS e
"""
"""FROM this: the rows `e` of a relation with seqs that stand in a part, or in its partial days."""

_LAST_BOOKED = text(
    """
    SELECT max(e.booked_at)
    FROM unnest(CAST(:positions AS bigint[])) WITH ORDINALITY AS held (seq, number)
    JOIN entries e ON e.jackpot_id = :book AND e.stripe_no = held.number - 1 AND e.seq = held.seq
    """
)

DAY: Final = timedelta(days=1)

EIGHTH: Final = DAY / 8
"""Three hours: so much is reconciled at a time, so that a report reads no more than that at an edge."""


@dataclass(frozen=True, slots=True)
class Part:
    """Entries after `start` up to `end`, on every stripe."""

    start: Positions
    end: Positions

    @property
    def is_empty(self) -> bool:
        """Whether it has no entry."""
        return is_within(self.end, self.start)

    def slices(self, most: int) -> "Iterator[Part]":
        """Cut it into parts of about so many entries, each with its share of every stripe."""
        start = (*self.start, *(0 for _ in self.end[len(self.start) :]))
        lengths = [last - first for first, last in zip(start, self.end, strict=True)]
        number = max(1, -(-sum(lengths) // most))
        edges = [
            tuple(first + length * place // number for first, length in zip(start, lengths, strict=True))
            for place in range(number + 1)
        ]
        return itertools.starmap(Part, itertools.pairwise(edges))


@dataclass(frozen=True, slots=True)
class BookPeriod:
    """
    A jackpot's book from one vector of positions to another: UTC days from `first_day` to `end_day`, and the rest.

    `end_day` is not included; without whole days both are the same day. It is None where all that is booked is covered.
    """

    jackpot_id: str
    base: str
    start: Positions
    end: Positions
    first_day: date
    end_day: date | None
    partial_days: Sequence[Part]

    @property
    def has_whole_days(self) -> bool:
        """Whether days may be whole; where all that is booked is covered, they have not been counted."""
        return self.end_day is None or self.first_day < self.end_day

    @property
    def whole_days(self) -> "BookPeriod":
        """The whole days alone."""
        return replace(self, partial_days=())

    @property
    def bounds(self) -> dict[str, Any]:
        """The parameters of a statement about all entries. A stripe that `start` does not reach had no entry then."""
        return {
            "jackpot_id": self.jackpot_id,
            "base": self.base,
            "stripe_nos": list(range(len(self.end))),
            "starts": [*self.start, *(0 for _ in self.end[len(self.start) :])],
            "ends": list(self.end),
        }

    @property
    def divided(self) -> dict[str, Any]:
        """The parameters of a statement about whole days and the entries of partial days."""
        ranges = [
            (stripe_no, start, upto)
            for part in self.partial_days
            for stripe_no, (start, upto) in enumerate(zip_longest(part.start, part.end, fillvalue=0))
            if start < upto
        ]
        stripe_nos, starts, ends = (list(column) for column in zip(*ranges, strict=True)) if ranges else ([], [], [])
        days = {"first_day": self.first_day, "end_day": self.end_day or date.max}
        book = {"jackpot_id": self.jackpot_id, "base": self.base}
        return {**book, **days, "stripe_nos": stripe_nos, "starts": starts, "ends": ends}

    def until_start(self, session: Session) -> "BookPeriod":
        """Return the book before the period: opening balances are its sums."""
        return between(session, self.jackpot_id, self.base, (0,) * len(self.start), self.start)

    def until_end(self, session: Session) -> "BookPeriod":
        """Return the book from its beginning to the end of the period: closing balances are its sums."""
        return between(session, self.jackpot_id, self.base, (0,) * len(self.end), self.end)


def one_by_one(jackpot_id: str, base: str, part: Part) -> BookPeriod:
    """Return a part of which all entries are to be read: no day of it is taken as a whole."""
    return BookPeriod(jackpot_id, base, part.start, part.end, date.min, date.min, [part])


def between(session: Session, jackpot_id: str, base: str, start: Positions, end: Positions) -> BookPeriod:
    """Divide the entries after one vector of positions, up to another."""
    first_day, before = _first_day(session, jackpot_id, start)
    end_day: date | None
    if end == instants.now(session, jackpot_id):
        end_day, partial = None, [Part(start, before)]
    else:
        end_day, after = _end_day(session, jackpot_id, end)
        partial = [Part(start, before), Part(after, end)]
        if end_day <= first_day:
            return BookPeriod(jackpot_id, base, start, end, first_day, first_day, [Part(start, end)])
    return BookPeriod(jackpot_id, base, start, end, first_day, end_day, [part for part in partial if not part.is_empty])


def midnight(day: date) -> datetime:
    """Return the instant at which a UTC day begins."""
    return datetime.combine(day, time(), UTC)


def begin_of(day: date, eighth: int) -> datetime:
    """Return the instant at which an eighth of a UTC day begins; the first is 0."""
    return midnight(day) + eighth * EIGHTH


def begin_of_eighth(instant: datetime) -> datetime:
    """Return the instant at which the eighth of a UTC day begins that an instant is in."""
    day = midnight(instant.astimezone(UTC).date())
    return day + (instant - day) // EIGHTH * EIGHTH


def _first_day(session: Session, jackpot_id: str, start: Positions) -> tuple[date, Positions]:
    """Return the first day that has no entry up to `start`, and the positions at its beginning."""
    last = _last_booked(session, jackpot_id, start)
    if last is None:
        return date.min, start
    day = last.date() + DAY
    return day, instants.before(session, jackpot_id, midnight(day))


def _end_day(session: Session, jackpot_id: str, end: Positions) -> tuple[date, Positions]:
    """Return the latest day that has no entry beyond `end` before it, and the positions at its beginning."""
    last = _last_booked(session, jackpot_id, end)
    if last is None:
        return date.min, end
    day = last.date() + DAY
    while not is_within(before := instants.before(session, jackpot_id, midnight(day)), end):
        day -= DAY
    return day, before


def _last_booked(session: Session, jackpot_id: str, positions: Positions) -> datetime | None:
    last_booked_at: datetime | None = session.scalar(_LAST_BOOKED, {"book": jackpot_id, "positions": list(positions)})
    return last_booked_at


def is_within(positions: Positions, end: Positions) -> bool:
    """Whether no stripe stands beyond `end`; one that `end` does not reach had no entry."""
    reach = (*end, *(0 for _ in positions[len(end) :]))
    return all(seq <= last for seq, last in zip(positions, reach, strict=False))


def is_same(positions: Positions, other: Positions) -> bool:
    """Whether two vectors are equal; a stripe that one does not reach had no entry."""
    return is_within(positions, other) and is_within(other, positions)
