"""
A page of events: those of the entries after a cursor, and the cursor after them.

Nothing is stored for it. Each stripe's entries are numbered without a gap in the order of their commits. So all that is
after a number is found sooner or later, however late it was committed. See docs/decisions/events.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from sqlalchemy import select

from jackpot_service.database.models import JackpotRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.principals import Principal
from jackpot_service.events import acts, awards, rounds
from jackpot_service.events.awards import AwardEvent, Unplaced
from jackpot_service.events.cursor import Begun, Cursor, seq_in
from jackpot_service.events.entries import Heads, NotifiedEntry, Window, notified_entries, windows
from jackpot_service.events.event import PUBLIC, Event

READ_AT_ONCE: Final = 100
"""Entries whose facts are read together; a page of fewer events reads no more than it needs."""


@dataclass(frozen=True, slots=True)
class Page:
    """
    Some events, the cursor after them, and whether there was more to be looked at.

    `fresh_at` is that of the look up to which it goes.
    """

    items: tuple[Event, ...]
    next: Cursor
    has_more: bool
    fresh_at: float | None = None


class _Candidate(NamedTuple):
    """An event that a page may have room for."""

    entry: NotifiedEntry
    number: int
    event: Unplaced


def events_page(session: Session, reader: Principal, after: Cursor, reached: Heads, *, limit: int) -> Page:
    """
    Return a reader's events after a cursor, in the order of booking, at most so many.

    The order is exact on each stripe, and within a page. A page without events has still looked at entries, and `next`
    is after those.
    """
    looked_at = windows(after, reached)
    entries = notified_entries(session, reader, looked_at) if looked_at else []
    entries.sort(key=lambda entry: _numbered_to(entry, after) == 0)  # One that is begun is brought to its end first.
    bases = dict(session.execute(select(JackpotRow.jackpot_id, JackpotRow.base)).all())
    candidates = _candidates(session, entries, after, bases, most=limit + 1)
    items = _events(session, candidates[:limit], bases)
    following = candidates[limit] if len(candidates) > limit else None
    cursor = _cursor(after, looked_at, entries, following)
    has_more = following is not None or any(window.upto < window.head for window in looked_at)
    return Page(items, cursor, has_more, reached.fresh_at)


def _candidates(
    session: Session, entries: Sequence[NotifiedEntry], after: Cursor, bases: Mapping[str, str], *, most: int
) -> list[_Candidate]:
    """Find the first events of some entries, at most so many."""
    page: list[_Candidate] = []
    rest = iter(entries)
    while len(page) < most and (together := list(islice(rest, READ_AT_ONCE))):
        for entry, events in zip(together, _events_of(session, together, bases), strict=True):
            before = _numbered_to(entry, after)
            page += [
                _Candidate(entry, number, event)
                for number, event in enumerate(events, 1)
                if number > before and (event.type in PUBLIC or not entry.only_public)
            ]
    return page[:most]


def _events_of(session: Session, entries: Sequence[NotifiedEntry], bases: Mapping[str, str]) -> list[list[Unplaced]]:
    """Build all events of each entry, also those that its reader may not see: events keep their numbers."""
    of_acts = acts.recorded(session, [entry.place.seq for entry in entries if entry.place.book == REFERENCE_BOOK])
    casinos = acts.casinos_of(session, of_acts.values())
    recorded = rounds.recorded(session, [entry.place for entry in entries if entry.round is not None])
    made = awards.awards_of_settlements(
        session,
        {
            (entry.place.book, entry.round.round_key)
            for entry in entries
            if entry.round is not None and recorded[entry.place.key].has_awards
        },
    )
    return [
        acts.events_of(of_acts[entry.place.seq], bases=bases, casinos=casinos)
        if entry.round is None
        else rounds.events_of(
            entry,
            entry.round,
            recorded[entry.place.key],
            made.get((entry.place.book, entry.round.round_key), ()),
            currency=bases[entry.place.book],
        )
        for entry in entries
    ]


def _numbered_to(entry: NotifiedEntry, after: Cursor) -> int:
    """Return the number of an entry's last event before a cursor; 0 for all but the entry that is begun."""
    place, begun = entry.place, after.begun
    if begun is None or (place.book, place.stripe_no) != (begun.book, begun.stripe_no):
        return 0
    return begun.number if place.seq == after.seq(place.book, place.stripe_no) + 1 else 0


def _events(session: Session, candidates: Sequence[_Candidate], bases: Mapping[str, str]) -> tuple[Event, ...]:
    """Place events, with awards read for those that are about one."""
    about_awards = [candidate.event for candidate in candidates if isinstance(candidate.event, AwardEvent)]
    data = awards.payloads(session, about_awards, currencies=bases)
    return tuple(
        Event(
            candidate.entry.place,
            candidate.number,
            awards.payload_of(candidate.event, data[candidate.event.name])
            if isinstance(candidate.event, AwardEvent)
            else candidate.event,
        )
        for candidate in candidates
    )


def _cursor(
    after: Cursor, looked_at: Sequence[Window], entries: Sequence[NotifiedEntry], following: _Candidate | None
) -> Cursor:
    """Stand after all that was looked at; but on each stripe before its first entry that has an event left."""
    ends = {(window.book, window.stripe_no): window.upto for window in looked_at}
    begun = after.begun if after.begun is not None and after.begun[:2] not in ends else None
    if following is not None:
        for entry in reversed(entries[entries.index(following.entry) :]):
            ends[entry.place.book, entry.place.stripe_no] = entry.place.seq - 1
        if following.number > 1:
            begun = Begun(following.entry.place.book, following.entry.place.stripe_no, following.number - 1)
    return Cursor(_moved(after, ends), begun)


def _moved(after: Cursor, ends: Mapping[tuple[str, int], int]) -> dict[str, tuple[int, ...]]:
    """The positions of a cursor, moved on to some ends."""
    reach = {book: len(seqs) for book, seqs in after.positions.items()}
    for book, stripe_no in ends:
        reach[book] = max(reach.get(book, 0), stripe_no + 1)
    return {
        book: tuple(ends.get((book, number), seq_in(after.positions, book, number)) for number in range(count))
        for book, count in reach.items()
    }
