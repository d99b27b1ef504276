"""Which entries a page looks at, after a cursor, and which of them notify a reader, in the order of booking."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from sqlalchemy import text

from jackpot_service.database.each_jackpot import by_jackpot, rows_of_each
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal
from jackpot_service.events.cursor import Cursor, Positions, seq_in
from jackpot_service.events.event import Place
from jackpot_service.events.visibility import ROUND_KINDS, act_kinds, is_of_the_house, sees_round

MOST_LOOKED_AT = 5_000
"""Entries that one page looks at, whether or not they are events: so every page costs the same,
for every reader, however far behind."""

_HEADS = text(
    """
    SELECT jackpot_id, array_agg(seq ORDER BY stripe_no), pg_is_in_recovery()
    FROM stripes
    GROUP BY jackpot_id
    """
)

# Of a round that a reader does not see, the entry that hit the jackpot is still seen.
#
# Rows are looked up by their keys. For entries the limit says so, which no window reaches. For rounds the order says by
# which: while the table is new the callers' ids seem to be as good, and would read all rounds of the jackpot.
_OF_ROUNDS = """
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.kind,
           e.round_key, e.step, r.table_id, r.round_id, r.casino_id, r.rules_version, r.rate_sheet
    FROM unnest(%(stripe_nos)s::int[], %(afters)s::bigint[], %(uptos)s::bigint[]) AS w (stripe_no, after, upto)
    CROSS JOIN LATERAL (
        SELECT o.jackpot_id, o.stripe_no, o.seq, o.booked_at, o.kind, o.round_key, o.step,
               CASE WHEN NOT %(sees_all)s
                    THEN o.facts #> '{settlement,cycle_after}' > o.facts #> '{settlement,cycle}' END AS is_hit
        FROM entries o
        WHERE o.jackpot_id = %(book)s AND o.stripe_no = w.stripe_no AND o.seq > w.after AND o.seq <= w.upto
          AND o.kind = ANY(%(kinds)s)
        LIMIT %(most)s
    ) AS e
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id, o.casino_id, o.rules_version, o.rate_sheet
        FROM rounds o
        WHERE o.jackpot_id = %(book)s AND o.round_key BETWEEN e.round_key AND e.round_key
        ORDER BY o.round_key
        LIMIT 1
    ) AS r
    WHERE %(sees_all)s
       OR (r.casino_id = %(casino_id)s AND (%(tables)s::text[] = '{}' OR r.table_id = ANY(%(tables)s::text[])))
       OR e.is_hit
"""

# An act about a casino's round, award or statement names in its record the casino, or a table, which is a casino's.
_ACTS = text(
    """
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.kind
    FROM entries e
    WHERE e.jackpot_id = :book AND e.stripe_no = 0 AND e.seq > :after AND e.seq <= :upto AND e.kind = ANY(:kinds)
      AND (CAST(:casino_id AS text) IS NULL
           OR EXISTS (SELECT FROM (SELECT o.after FROM acts o WHERE o.seq = e.seq LIMIT 1) AS a
                      LEFT JOIN tables t ON t.table_id = a.after ->> 'table_id'
                      WHERE coalesce(a.after -> 'round' ->> 'casino_id', a.after ->> 'casino_id', t.casino_id)
                            = :casino_id
                        AND (CAST(:tables AS text[]) = '{}'
                             OR coalesce(a.after -> 'round' ->> 'table_id', a.after ->> 'table_id') = ANY(:tables))))
    """
)


class CursorAhead(Refused, code="cursor-ahead", title="The cursor is not of these books"):
    """The cursor comes from books that went further than these: other books, or these before a backup was restored."""


@dataclass(frozen=True, slots=True)
class Heads:
    """
    How far every stripe of every book goes; whether that was read from a replica, which may be behind.

    `fresh_at` is the instant of the steady clock before which nothing is missing there, if somebody knows it.
    """

    positions: Positions
    is_replica: bool = False
    fresh_at: float | None = None

    def has(self, cursor: Cursor) -> bool:
        """Whether a cursor lies within these."""
        return all(seq <= seq_in(self.positions, book, stripe_no) for book, stripe_no, seq in _ends(cursor))

    def further(self, before: "Heads") -> "Heads":
        """Return how far the books go by this look and an earlier one, which may have been further."""
        ends = {book: _furthest(seqs, before.positions.get(book, ())) for book, seqs in self.positions.items()}
        return replace(self, positions={**before.positions, **ends})


@dataclass(frozen=True, slots=True)
class Window:
    """Entries of a stripe to look at: those after one seq and up to another; `head` is the last that there is."""

    book: str
    stripe_no: int
    after: int
    upto: int
    head: int


def heads(session: Session) -> Heads:
    """
    Read how far the books go, in one statement, so at one instant.

    A stripe's row is locked until its entry is committed: all up to the seq that it shows is there to be read.
    """
    rows = session.execute(_HEADS).all()
    return Heads({book: tuple(seqs) for book, seqs, _ in rows}, any(row[2] for row in rows))


def _furthest(seqs: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    return tuple(max(pair) for pair in zip_longest(seqs, before, fillvalue=0))


def is_reached(session: Session, reached: Heads) -> bool:
    """Whether a session has all entries up to where the books went at a look."""
    return heads(session).has(Cursor(reached.positions))


def require_reached(cursor: Cursor, reached: Heads) -> None:
    """
    Hold that a cursor lies within the books. Raises: CursorAhead.

    Of a replica it may lie ahead: nothing is there yet. Anywhere else, waiting would skip what is
    booked until the books have gone as far again.
    """
    for book, stripe_no, seq in _ends(cursor):
        if seq > seq_in(reached.positions, book, stripe_no) and not reached.is_replica:
            message = (
                f"Stripe {stripe_no} of book {book} ends before entry {seq}, up to which the cursor goes: "
                "it comes from other books, or from these before a backup was restored."
            )
            raise CursorAhead(message, book=book)


def _ends(cursor: Cursor) -> list[tuple[str, int, int]]:
    ends = [(book, stripe_no, seq) for book, seqs in cursor.positions.items() for stripe_no, seq in enumerate(seqs)]
    if cursor.begun is not None:
        begun = cursor.begun
        ends.append((begun.book, begun.stripe_no, cursor.seq(begun.book, begun.stripe_no) + 1))
    return ends


def windows(cursor: Cursor, reached: Heads) -> Sequence[Window]:
    """Share what a page may look at among the stripes that go further than the cursor; empty if none does."""
    pending = [
        (book, stripe_no, after, head)
        for book, seqs in reached.positions.items()
        for stripe_no, head in enumerate(seqs)
        if head > (after := cursor.seq(book, stripe_no))
    ]
    share = max(1, MOST_LOOKED_AT // max(1, len(pending)))
    return [Window(book, stripe_no, after, min(head, after + share), head) for book, stripe_no, after, head in pending]


def passed(cursor: Cursor, reached: Heads) -> Cursor:
    """
    Move a cursor on to the ends of all books, for a reader whom nothing up to there notifies.

    It may be further than a replica goes, and stays there: else the reader would be notified of the same again.
    """
    ends = {book: _furthest(seqs, cursor.positions.get(book, ())) for book, seqs in reached.positions.items()}
    return Cursor({**cursor.positions, **ends})


@dataclass(frozen=True, slots=True)
class EntryRound:
    """The round that an entry is a step of, with the terms that were fixed at its opening."""

    round_key: int
    step: int
    table_id: str
    round_id: str
    casino_id: str
    rules_version: int
    rate_sheet: int


@dataclass(frozen=True, slots=True)
class NotifiedEntry:
    """
    An entry that notifies a reader; `round` is None for an act.

    `only_public`: the reader may know no more of it than that the jackpot was hit.
    """

    place: Place
    kind: EntryKind
    round: EntryRound | None
    only_public: bool = False


def notified_entries(session: Session, reader: Principal, windows: Sequence[Window]) -> list[NotifiedEntry]:
    """
    Find the entries in some windows that notify a reader, by booking time.

    Those of one stripe stay in their order, since no entry of it is dated before the one that it follows.
    """
    visible: dict[str, Any] = {"casino_id": reader.casino_id, "tables": sorted(reader.table_ids)}
    kinds = sorted(ROUND_KINDS)
    of_round = {**visible, "kinds": kinds, "sees_all": is_of_the_house(reader), "most": MOST_LOOKED_AT}
    of_rounds = [window for window in windows if window.book != REFERENCE_BOOK]
    questions = [
        {
            **of_round,
            "book": book,
            "stripe_nos": [window.stripe_no for window in of_book],
            "afters": [window.after for window in of_book],
            "uptos": [window.upto for window in of_book],
        }
        for book, of_book in by_jackpot(of_rounds, attrgetter("book")).items()
    ]
    notified = [
        _entry_of_round(reader, Place(*row[:4]), row[4], EntryRound(*row[5:]))
        for row in rows_of_each(session, _OF_ROUNDS, questions)
    ]
    for window in windows:
        if window.book == REFERENCE_BOOK:
            bounds = {"book": window.book, "after": window.after, "upto": window.upto}
            rows = session.execute(_ACTS, {**bounds, **visible, "kinds": sorted(act_kinds(reader))}).all()
            notified += [NotifiedEntry(Place(*row[:4]), EntryKind(row[4]), None) for row in rows]
    return sorted(notified, key=_in_order)


def _entry_of_round(reader: Principal, place: Place, kind: str, round_: EntryRound) -> NotifiedEntry:
    is_seen = sees_round(reader, table_id=round_.table_id, casino_id=round_.casino_id)
    return NotifiedEntry(place, EntryKind(kind), round_, only_public=not is_seen)


def is_anybody_notified(session: Session, *, before: Heads, reached: Heads) -> bool:
    """Find out whether any reader is notified of what was booked between two looks; True if that is too much to see."""
    looked_at = windows(Cursor(before.positions), reached)
    if any(window.upto < window.head for window in looked_at):
        return True
    return bool(notified_entries(session, SYSTEM_OPERATOR, looked_at))


def _in_order(entry: NotifiedEntry) -> tuple[Any, ...]:
    place = entry.place
    return place.booked_at, place.book, place.stripe_no, place.seq
