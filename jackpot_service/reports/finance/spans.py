"""Parts of a jackpot's book between two positions: whole days, which are kept, and the entries beside them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions

_LAST_BOOKED = text(
    """
    SELECT max(e.booked_at)
    FROM unnest(CAST(:positions AS bigint[])) WITH ORDINALITY AS held (seq, number)
    JOIN entries e ON e.jackpot_id = :book AND e.stripe_no = held.number - 1 AND e.seq = held.seq
    """
)

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Part:
    """Entries after `start` up to `end`, on every stripe."""

    start: Positions
    end: Positions

    @property
    def is_empty(self) -> bool:
        """Tell whether it has no entry."""
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
class Span:
    """
    A part of a jackpot's book: the UTC days from `first_day` up to, and without, `end_day`, and what is beside them.

    Without whole days both are the same day. `end_day` is None where the span holds all that is booked.
    """

    jackpot_id: str
    whole: Part
    first_day: date
    end_day: date | None
    beside: Sequence[Part]

    @property
    def has_whole_days(self) -> bool:
        """Tell whether days may be whole; of a span that holds all that is booked, nobody has counted them."""
        return self.end_day is None or self.first_day < self.end_day


def midnight(day: date) -> datetime:
    """When a UTC day begins."""
    return datetime.combine(day, time(), UTC)


def between(session: Session, jackpot_id: str, start: Positions, end: Positions) -> Span:
    """Divide what was booked after one vector of positions, up to another."""
    whole = Part(start, end)
    first_day, before = _first_day(session, jackpot_id, start)
    if end == instants.now(session, jackpot_id):
        beside = [Part(start, before)]
        return Span(jackpot_id, whole, first_day, None, [part for part in beside if not part.is_empty])
    end_day, after = _end_day(session, jackpot_id, end)
    if end_day <= first_day:
        return Span(jackpot_id, whole, first_day, first_day, [whole])
    beside = [Part(start, before), Part(after, end)]
    return Span(jackpot_id, whole, first_day, end_day, [part for part in beside if not part.is_empty])


def _first_day(session: Session, jackpot_id: str, start: Positions) -> tuple[date, Positions]:
    """The first day of which nothing was booked up to `start`, and the positions at its beginning."""
    last = _last_booked(session, jackpot_id, start)
    if last is None:
        return date.min, start
    day = last.date() + DAY
    return day, instants.before(session, jackpot_id, midnight(day))


def _end_day(session: Session, jackpot_id: str, end: Positions) -> tuple[date, Positions]:
    """The latest day before which nothing was booked beyond `end`, and the positions at its beginning."""
    last = _last_booked(session, jackpot_id, end)
    if last is None:
        return date.min, end
    day = last.date() + DAY
    while not is_within(before := instants.before(session, jackpot_id, midnight(day)), end):
        day -= DAY
    return day, before


def _last_booked(session: Session, jackpot_id: str, positions: Positions) -> datetime | None:
    found: datetime | None = session.scalar(_LAST_BOOKED, {"book": jackpot_id, "positions": list(positions)})
    return found


def is_within(positions: Positions, end: Positions) -> bool:
    """Whether no stripe stands beyond `end`; one that `end` does not reach had no entry."""
    reach = (*end, *(0 for _ in positions[len(end) :]))
    return all(seq <= last for seq, last in zip(positions, reach, strict=False))


def is_same(positions: Positions, other: Positions) -> bool:
    """Whether two vectors say the same; a stripe that one does not reach had no entry."""
    return is_within(positions, other) and is_within(other, positions)
