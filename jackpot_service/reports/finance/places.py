"""Where documents stand: which entries, and which effects of acts, lie in the part of a book that a report covers."""

from typing import Any

from jackpot_service.reports.finance.frame import Stand

ENTRIES = """
    unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
        AS part (stripe_no, start, upto)
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = part.stripe_no
                  AND e.seq > part.start AND e.seq <= part.upto
"""
"""What to select from: the entries `e` of the part. Parameters: `of`."""

# Acts on a jackpot, and not those of all: payments come by the thousand, and name none. What a jackpot receives is an
# effect of an act on another.
EFFECTS = """
effects AS (
    SELECT a.seq AS act_seq, a.decides, a.before, a.after, f.seq, f.kind, f.recorded,
           CAST(coalesce(f.recorded -> 'round' ->> 'round_key', f.recorded ->> 'round_key') AS bigint) AS round_key
    FROM jackpots k
    JOIN acts a ON a.jackpot_id = k.jackpot_id
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint, kind text, recorded jsonb)
    WHERE f.book = :jackpot_id
      AND f.seq > (CAST(:starts AS bigint[]))[1] AND f.seq <= (CAST(:ends AS bigint[]))[1]
)
"""
"""What WITH begins with: `effects`, the entries of the part that acts booked, all on stripe 0, with these acts."""


def of(stand: Stand) -> dict[str, Any]:
    """The parameters that say which part it is; a stripe that its start does not reach had no entry then."""
    return {
        "jackpot_id": stand.jackpot_id,
        "base": stand.base,
        "stripe_nos": list(range(len(stand.end))),
        "starts": [*stand.start, *(0 for _ in stand.end[len(stand.start) :])],
        "ends": list(stand.end),
    }
