"""
Instants as positions: which entries a book held right before an instant, and that no other ever joins them.

An instant covers the entries that were booked before it (`booked_at < instant`). On each stripe time never falls, so
those are a prefix: one seq a stripe. Once a stripe's `booked_at` is at the instant or beyond, nothing can be booked on
it before the instant any more. So an instant that every stripe has passed is found again from the entries alone.
See docs/decisions/instants.md.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select, text

from jackpot_service.database.models import StripeRow
from jackpot_service.database.transactions import Session, committed
from jackpot_service.ledger import stripes

Positions = tuple[int, ...]
"""A seq of each stripe, in the order of their numbers; a stripe that it does not reach had no entry."""

# Entries are numbered without a gap and in the order of their times, so halving finds the last one before an instant.
# Each of them is looked up by its key, whatever the planner thinks of the table: it is one (LATERAL, LIMIT).
_BEFORE = text(
    """
    WITH RECURSIVE search (stripe_no, added_by, low, high) AS (
        SELECT stripe_no, added_by, CAST(0 AS bigint), seq FROM stripes WHERE jackpot_id = :book
        UNION ALL
        SELECT s.stripe_no, s.added_by,
               CASE WHEN middle.booked_at < :instant THEN middle.seq ELSE s.low END,
               CASE WHEN middle.booked_at < :instant THEN s.high ELSE middle.seq - 1 END
        FROM search s
        CROSS JOIN LATERAL (
            SELECT e.seq, e.booked_at
            FROM entries e
            WHERE e.jackpot_id = :book AND e.stripe_no = s.stripe_no AND e.seq = (s.low + s.high + 1) / 2
            LIMIT 1
        ) AS middle
        WHERE s.low < s.high
    )
    SELECT low, added_by FROM search WHERE low = high ORDER BY stripe_no
    """
)


def at(session: Session, book: str, instant: datetime) -> Positions:
    """
    Find the positions at an instant, of the stripes that there were then. They are final if no stripe is behind it.

    Stripes that were added later are left out, so that the answer does not grow with them.
    """
    ends = _ends(session, book, instant)
    first = ends[0][0] if ends else 0
    reach = max((number for number, (seq, added_by) in enumerate(ends, 1) if seq or added_by <= first), default=0)
    return tuple(seq for seq, _ in ends[:reach])


def before(session: Session, book: str, instant: datetime) -> Positions:
    """Find the positions at an instant, of all stripes that there are now. They are final if none is behind it."""
    return tuple(seq for seq, _ in _ends(session, book, instant))


def _ends(session: Session, book: str, instant: datetime) -> Sequence[tuple[int, int]]:
    """The last seq before an instant, and the seq on stripe 0 of the entry that added the stripe, for each stripe."""
    return [(seq, added_by) for seq, added_by in session.execute(_BEFORE, {"book": book, "instant": instant})]


def behind(session: Session, book: str, instant: datetime) -> Sequence[int]:
    """The stripes of a book on which something could still be booked before an instant, in their order."""
    question = select(StripeRow.stripe_no).where(StripeRow.jackpot_id == book, StripeRow.booked_at < instant)
    return session.scalars(question.order_by(StripeRow.stripe_no)).all()


def are_passed(session: Session, books: Sequence[str], instant: datetime) -> bool:
    """Whether nothing can be booked before an instant any more, in any of some books."""
    question = select(StripeRow.stripe_no).where(StripeRow.jackpot_id.in_(books), StripeRow.booked_at < instant)
    return session.execute(question.limit(1)).first() is None


def passed(session: Session) -> Mapping[str, datetime]:
    """For each book, the latest instant that all of its stripes have passed; none for a book that has no beginning."""
    begun = select(StripeRow.jackpot_id, func.min(StripeRow.booked_at)).group_by(StripeRow.jackpot_id)
    rows = session.execute(begun.having(func.isfinite(func.min(StripeRow.booked_at))))
    return dict(rows.all())


def is_over(session: Session, book: str, instant: datetime) -> bool:
    """Return whether nothing can be booked before an instant any more, in a book that exists."""
    question = select(func.bool_and(StripeRow.booked_at >= instant)).where(StripeRow.jackpot_id == book)
    return bool(session.scalar(question))


def raise_stripes(session: Session, book: str, stripe_nos: Sequence[int], instant: datetime) -> None:
    """
    Let nothing be booked on some stripes before an instant any more, one after the other. It commits.

    Each stripe has a transaction of its own, all of them in one round trip. It is locked for as long as a bet locks it,
    or shorter, from its statement to the end of its commit.
    """
    with committed(session) as pipe:
        for place, stripe_no in enumerate(stripe_nos):
            if place:
                pipe.command("COMMIT")
                pipe.command("BEGIN")
            stripes.raise_one(pipe, book, stripe_no, to=instant)


def now(session: Session, book: str) -> Positions:
    """The positions of all that is booked, as the session sees it."""
    seqs = session.execute(
        select(StripeRow.seq).where(StripeRow.jackpot_id == book).order_by(StripeRow.stripe_no)
    ).scalars()
    return tuple(seqs)
