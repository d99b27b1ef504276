"""The partitions of bets, as the database's catalogue knows them: each month has one, and one takes what has none."""

import re
from collections.abc import Iterable, Sequence

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import LAST_KEY, KeyRange, Month, keys_of

LOWEST_KEY = -LAST_KEY - 1

_BOUNDS = text(
    """
    SELECT pg_get_expr(c.relpartbound, c.oid)
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'bets'::regclass
    ORDER BY c.oid
    """
)

_BOUND = re.compile(r"FROM \((?:MINVALUE|'(?P<first>-?\d+)')\) TO \((?:MAXVALUE|'(?P<end>-?\d+)')\)")

# Only asked of months without a partition of their own, so that it is the default partition that is looked into.
_HELD = text(
    """
    SELECT EXISTS (
        SELECT FROM jackpots j
        WHERE EXISTS (SELECT FROM bets b
                      WHERE b.jackpot_id = j.jackpot_id AND b.round_key >= :first AND b.round_key < :end))
    """
)


def missing(session: Session, months: Iterable[Month]) -> Sequence[Month]:
    """Those of some months whose bets would go to the default partition."""
    ranges = _ranges(session)
    return [month for month in months if not any(one.overlaps(keys_of(month)) for one in ranges)]


def holds_bets_of(session: Session, month: Month) -> bool:
    """Whether there are bets of a month already."""
    return bool(session.execute(_HELD, keys_of(month)._asdict()).scalar_one())


def _ranges(session: Session) -> list[KeyRange]:
    bounds = (_BOUND.search(bound) for bound in session.scalars(_BOUNDS))
    return [
        KeyRange(
            LOWEST_KEY if found["first"] is None else int(found["first"]),
            LAST_KEY + 1 if found["end"] is None else int(found["end"]),
        )
        for found in bounds
        if found is not None  # The default partition has no range.
    ]
