"""Parts of a jackpot's book in SQL: the entries after one vector of positions, up to another."""

from typing import Any, Final

from jackpot_service.reports.finance.frame import Stand

ENTRIES: Final = """
    unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
        AS part (stripe_no, start, upto)
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = part.stripe_no
                  AND e.seq > part.start AND e.seq <= part.upto
"""
"""FROM this: the entries `e` of a part; `bounds` are its parameters."""


def bounds(stand: Stand) -> dict[str, Any]:
    """The parameters of a question about a part. A stripe that `start` does not reach had no entry then."""
    return {
        "jackpot_id": stand.jackpot_id,
        "base": stand.base,
        "stripe_nos": list(range(len(stand.end))),
        "starts": [*stand.start, *(0 for _ in stand.end[len(stand.start) :])],
        "ends": list(stand.end),
    }
