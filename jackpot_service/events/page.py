"""
A page of events: those of the entries after a cursor, and the cursor after them.

Nothing is stored for it. Each stripe's entries are numbered without a gap in the order of their commits, so all that is
after a number is told sooner or later, however late it was committed; see docs/decisions/events.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal
from jackpot_service.events import award_documents
from jackpot_service.events.cursor import Begun, Cursor, seq_in
from jackpot_service.events.documents import read_documents
from jackpot_service.events.drafts import OfAward, Telling, draft_of
from jackpot_service.events.entries import ToldEntry, told_entries
from jackpot_service.events.event import PUBLIC, Draft, Event
from jackpot_service.events.windows import Heads, Window, windows

READ_AT_ONCE: Final = 100
"""Entries whose documents are read together; a page of fewer events reads no more than it needs."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some events, the cursor after them, and whether there was more to be looked at."""

    items: tuple[Event, ...]
    next: Cursor
    has_more: bool


class _Untold(NamedTuple):
    """An event that a page may have room for."""

    entry: ToldEntry
    number: int
    telling: Telling


def events_page(session: Session, reader: Principal, after: Cursor, reached: Heads, *, limit: int) -> Page:
    """
    Tell a reader what happened after a cursor, in the order of booking, at most so many events.

    The order is exact on each stripe, and within a page. A page that tells nothing has still looked at entries, and
    `next` is after those.
    """
    looked_at = windows(after, reached)
    entries = told_entries(session, reader, looked_at) if looked_at else []
    entries.sort(key=lambda entry: _told_of(entry, after) == 0)  # One that is begun is told to its end first.
    untold, currencies = _untold(session, entries, after, most=limit + 1)
    items = _events(session, untold[:limit], currencies)
    following = untold[limit] if len(untold) > limit else None
    cursor = _cursor(after, looked_at, entries, following)
    has_more = following is not None or any(window.upto < window.head for window in looked_at)
    return Page(items, cursor, has_more)


def _untold(
    session: Session, entries: Sequence[ToldEntry], after: Cursor, *, most: int
) -> tuple[list[_Untold], Mapping[str, str]]:
    """Find the first events of some entries, at most so many; and the jackpots' base currencies."""
    found: list[_Untold] = []
    currencies: Mapping[str, str] = {}
    rest = iter(entries)
    while len(found) < most and (together := list(islice(rest, READ_AT_ONCE))):
        documents = read_documents(session, together)
        currencies = documents.bases
        for entry in together:
            told = _told_of(entry, after)
            found += [
                _Untold(entry, number, telling)
                for number, telling in enumerate(documents.tellings(entry), 1)
                if number > told and (telling.type in PUBLIC or not entry.only_public)
            ]
    return found[:most], currencies


def _told_of(entry: ToldEntry, after: Cursor) -> int:
    """The number of an entry's last event that was told before; 0 for all but the one that is begun."""
    place, begun = entry.place, after.begun
    if begun is None or (place.book, place.stripe_no) != (begun.book, begun.stripe_no):
        return 0
    return begun.number if place.seq == after.seq(place.book, place.stripe_no) + 1 else 0


def _events(session: Session, untold: Sequence[_Untold], currencies: Mapping[str, str]) -> tuple[Event, ...]:
    names = [one.telling.name for one in untold if isinstance(one.telling, OfAward)]
    awards = award_documents.named(session, names)

    def draft(telling: Telling) -> Draft:
        if isinstance(telling, OfAward):
            return draft_of(telling, awards[telling.name], currency=currencies[telling.name.book])
        return telling

    return tuple(Event(one.entry.place, one.number, draft(one.telling)) for one in untold)


def _cursor(
    after: Cursor, looked_at: Sequence[Window], entries: Sequence[ToldEntry], following: _Untold | None
) -> Cursor:
    """Stand after all that was looked at; but on each stripe before its first entry that is still to be told."""
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
