"""How far the books go, and which entries a page looks at: after a cursor, and never more than so many."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Refused
from jackpot_service.events.cursor import Cursor, Positions, seq_in

MOST_LOOKED_AT = 5_000
"""Entries that one page looks at, told or not: so a page costs the same whoever asks, and however far behind."""

_HEADS = text(
    """
    SELECT jackpot_id, array_agg(seq ORDER BY stripe_no), pg_is_in_recovery()
    FROM stripes
    GROUP BY jackpot_id
    """
)


class CursorAhead(Refused, code="cursor-ahead", title="The cursor is not of these books"):
    """The cursor comes from books that went further than these: other books, or these before a backup was restored."""


@dataclass(frozen=True, slots=True)
class Heads:
    """How far every stripe of every book goes; whether that was read from a replica, which may be behind."""

    positions: Positions
    is_replica: bool = False


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


def require_reached(cursor: Cursor, reached: Heads) -> None:
    """
    Hold that a cursor lies within the books. Raises: CursorAhead.

    Of a replica it may lie ahead: there is nothing to be told there yet. Anywhere else, waiting would skip what is
    booked until the books have gone as far again.
    """
    for book, stripe_no, seq in _ends(cursor):
        if seq > seq_in(reached.positions, book, stripe_no) and not reached.is_replica:
            message = (
                f"Stripe {stripe_no} of book {book} ends before entry {seq}, up to which the cursor was told: "
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
