"""What acts booked in a part of a jackpot's book, in SQL: where documents that name an act stand."""

from typing import Final

# Acts that name a jackpot, and not those of all: payments come by the thousand, and name none. What a jackpot receives
# is an effect of an act on another.
EFFECTS: Final = """
effects AS (
    SELECT a.seq AS act_seq, a.subject, a.decides, a.before, a.after, f.seq, f.kind, f.recorded,
           CAST(coalesce(f.recorded -> 'round' ->> 'round_key', f.recorded ->> 'round_key') AS bigint) AS round_key
    FROM jackpots k
    JOIN acts a ON a.jackpot_id = k.jackpot_id
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS f (book text, seq bigint, kind text, recorded jsonb)
    WHERE f.book = :jackpot_id
      AND f.seq > (CAST(:starts AS bigint[]))[1] AND f.seq <= (CAST(:ends AS bigint[]))[1]
)
"""
"""WITH this: what acts booked in a part, all on stripe 0, and these acts; `parts.bounds` are its parameters."""
