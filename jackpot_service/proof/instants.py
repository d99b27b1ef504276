"""Whether the instants that reports stand on say where the books stood, and nothing is booked before them any more."""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.mismatches import Code, Mismatch

PAGE: Final = 1000

# On a stripe time never falls, which is a law of its own: so it is enough to look at the entries on both sides of a
# position. A stripe that the positions do not reach had no entry; one that is not there cannot have had any.
_WRONG = text(
    """
    SELECT i.instant, s.number - 1 AS stripe_no, i.positions[s.number] AS stated, stripe.booked_at AS ends_at,
           before.booked_at AS before_at, after.booked_at AS after_at
    FROM instants i
    CROSS JOIN LATERAL generate_series(1, greatest(
        cardinality(i.positions), (SELECT max(o.stripe_no) + 1 FROM stripes o WHERE o.jackpot_id = :book)
    )) AS s (number)
    LEFT JOIN stripes stripe ON stripe.jackpot_id = :book AND stripe.stripe_no = s.number - 1
    CROSS JOIN LATERAL (
        SELECT CASE WHEN s.number > cardinality(i.positions) THEN 0 ELSE i.positions[s.number] END AS seq
    ) AS held
    LEFT JOIN entries before
        ON before.jackpot_id = :book AND before.stripe_no = s.number - 1 AND before.seq = held.seq
    LEFT JOIN entries after
        ON after.jackpot_id = :book AND after.stripe_no = s.number - 1 AND after.seq = held.seq + 1
    WHERE i.jackpot_id = :book
      AND (held.seq >= 0 AND (held.seq = 0 OR before.booked_at < i.instant)
           AND (after.seq IS NULL OR after.booked_at >= i.instant) AND stripe.booked_at >= i.instant) IS NOT TRUE
    ORDER BY i.instant, s.number
    """
)


def stand_where_they_say(session: Session, book: str) -> Iterator[Mismatch]:
    """Each position of an instant is that of the last entry booked before it, on a stripe that is beyond it by now."""
    for row in session.execute(_WRONG, {"book": book}, execution_options={"yield_per": PAGE}):
        place = f"instant {row.instant}, stripe {row.stripe_no}"
        detail = (
            f"stands at {row.stated}, booked at {row.before_at}; the next was booked at {row.after_at}, "
            f"and the stripe is at {row.ends_at}"
        )
        yield Mismatch(Code.INSTANT_POSITIONS, book, place, detail)
