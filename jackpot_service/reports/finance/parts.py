"""
Parts of a jackpot's book in SQL: the entries after one vector of positions, up to another; whole days, and the rest.

A question is asked either of all entries of a part, with `bounds`, or of its whole days, which are kept, and of the
entries beside them, both with `divided`. Functions of the schema look these entries up: `entries_between` and others.
"""

from datetime import date
from itertools import zip_longest
from typing import Any, Final

from jackpot_service.reports.finance.frame import Stand

# The fence has each stripe's entries looked up by their seqs, few or many. Joined, all entries that there are might be
# read for those of a few hours: how many are between two positions, no statistics tell.
BETWEEN: Final = """
    unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
        AS part (stripe_no, start, upto)
    CROSS JOIN LATERAL (
        SELECT {columns}
        FROM {relation} e
        WHERE e.jackpot_id = :jackpot_id AND e.stripe_no = part.stripe_no AND e.seq > part.start AND e.seq <= part.upto
          AND {condition}
        OFFSET 0
    ) AS e
"""
"""FROM this: the rows `e` of a relation that stand in a part, or beside its whole days; `relation` tells seqs."""


def bounds(stand: Stand) -> dict[str, Any]:
    """The parameters of a question about a part. A stripe that `start` does not reach had no entry then."""
    return {
        "jackpot_id": stand.jackpot_id,
        "base": stand.base,
        "stripe_nos": list(range(len(stand.end))),
        "starts": [*stand.start, *(0 for _ in stand.end[len(stand.start) :])],
        "ends": list(stand.end),
    }


def divided(stand: Stand) -> dict[str, Any]:
    """The parameters of a question about a part that is divided into whole days and the entries beside them."""
    ranges = [
        (stripe_no, start, upto)
        for part in stand.span.beside
        for stripe_no, (start, upto) in enumerate(zip_longest(part.start, part.end, fillvalue=0))
        if start < upto
    ]
    return {
        "jackpot_id": stand.jackpot_id,
        "base": stand.base,
        "first_day": stand.span.first_day,
        "end_day": stand.span.end_day or date.max,
        "stripe_nos": [stripe_no for stripe_no, _, _ in ranges],
        "starts": [start for _, start, _ in ranges],
        "ends": [upto for _, _, upto in ranges],
    }
