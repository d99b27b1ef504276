"""
Instants as positions: which entries a book held right before an instant, and that no other ever joins them.

What belongs to an instant is what was booked before it (`booked_at < instant`). On each stripe time never falls, so
that is a prefix: one seq a stripe. Once every stripe's `booked_at` is at the instant or beyond, nothing can be booked
before it any more.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from jackpot_service.db import Session, pipelined
from jackpot_service.ledger import stripes
from jackpot_service.ledger.instants_schema import InstantRow
from jackpot_service.ledger.schema import StripeRow

Positions = tuple[int, ...]
"""A seq of each stripe, in the order of their numbers; a stripe that it does not reach had no entry."""

# Entries are numbered without a gap and in the order of their times, so halving finds the last one before an instant.
_BEFORE = text(
    """
    WITH RECURSIVE search (stripe_no, low, high) AS (
        SELECT stripe_no, CAST(0 AS bigint), seq FROM stripes WHERE jackpot_id = :book
        UNION ALL
        SELECT s.stripe_no,
               CASE WHEN e.booked_at < :instant THEN e.seq ELSE s.low END,
               CASE WHEN e.booked_at < :instant THEN s.high ELSE e.seq - 1 END
        FROM search s
        JOIN entries e ON e.jackpot_id = :book AND e.stripe_no = s.stripe_no AND e.seq = (s.low + s.high + 1) / 2
        WHERE s.low < s.high
    )
    SELECT array_agg(low ORDER BY stripe_no) FROM search WHERE low = high
    """
)


def stored(session: Session, book: str, instant: datetime) -> Positions | None:
    """The positions at an instant that was resolved before; None if it was not."""
    found = session.scalar(
        select(InstantRow.positions).where(InstantRow.jackpot_id == book, InstantRow.instant == instant)
    )
    return None if found is None else tuple(found)


def stored_of(
    session: Session, books: Sequence[str], edges: Sequence[datetime]
) -> dict[tuple[str, datetime], Positions]:
    """The positions of several books at several instants, of those that were resolved before."""
    columns = (InstantRow.jackpot_id, InstantRow.instant, InstantRow.positions)
    found = session.execute(select(*columns).where(InstantRow.jackpot_id.in_(books), InstantRow.instant.in_(edges)))
    return {(book, instant): tuple(positions) for book, instant, positions in found}


def is_over(session: Session, book: str, instant: datetime) -> bool:
    """Tell whether nothing can be booked before an instant any more, in a book that exists."""
    question = select(func.bool_and(StripeRow.booked_at >= instant)).where(StripeRow.jackpot_id == book)
    return bool(session.scalar(question))


def close(session: Session, book: str, instant: datetime) -> None:
    """See to it that nothing is booked before an instant any more, in a book that exists; locks all of it."""
    with pipelined(session) as pipe:
        stripes.lock_all(pipe, book)
    late = (StripeRow.jackpot_id == book, StripeRow.booked_at < instant)
    session.execute(update(StripeRow).where(*late).values(booked_at=instant))


def before(session: Session, book: str, instant: datetime) -> Positions:
    """Find the positions at an instant. They are final if it is over."""
    return tuple(session.execute(_BEFORE, {"book": book, "instant": instant}).scalar_one())


def store(session: Session, book: str, instant: datetime, positions: Positions) -> Positions:
    """
    Write the positions at an instant that is over, and give those that are stored from then on.

    They are another's who was first; his do not reach a stripe that was added since, and has no entry before the
    instant.
    """
    row = insert(InstantRow).values(jackpot_id=book, instant=instant, positions=list(positions))
    session.execute(row.on_conflict_do_nothing())
    return stored(session, book, instant) or positions


def now(session: Session, book: str) -> Positions:
    """The positions of all that is booked, as the session sees it."""
    found = session.execute(
        select(StripeRow.seq).where(StripeRow.jackpot_id == book).order_by(StripeRow.stripe_no)
    ).scalars()
    return tuple(found)
