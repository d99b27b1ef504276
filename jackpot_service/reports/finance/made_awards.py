"""
Awards that were made in parts of a jackpot's book, one by one, and which of their steps they took by the end, in SQL.

An award is made by its round's settlement, or by a correction of the round. It took the steps of which the entry in the
jackpot's book stands before the end; a payment has none, so there it is the act that counts.
"""

from typing import Final

from jackpot_service.domain.awards import ORDER, STATE_AFTER
from jackpot_service.reports.finance.whose import in_round_of_those_asked

_STATES: Final = ", ".join(f"('{step}', {place}, '{STATE_AFTER[step]}')" for place, step in enumerate(ORDER))


def states(name: str) -> str:
    """FROM this: each step that an award can take, its place in the order of all, and the state that it leads to."""
    return f"(VALUES {_STATES}) AS {name} (step, place, state)"


STATE: Final = states("of")
"""FROM this: `states`, as `of`."""

# Acts that decide about awards hold all of them in their effects, and are read once, not once for each award. An act on
# a round books one entry in its jackpot's book, so that no correction is here twice.
MADE: Final = f"""
made AS MATERIALIZED (
    SELECT e.stripe_no, e.seq, e.booked_at, e.round_key, 0 AS correction
    FROM award_entries_between(
        :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    ) AS e
    WHERE {in_round_of_those_asked("e")}
    UNION ALL
    SELECT e.stripe_no, e.seq, e.booked_at, c.round_key, c.number
    FROM corrections c
    JOIN acts a ON a.seq = c.act_seq
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS effect (book text, seq bigint)
    JOIN unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
         AS part (stripe_no, start, upto) ON part.stripe_no = 0 AND effect.seq > part.start AND effect.seq <= part.upto
    JOIN entries e ON e.jackpot_id = effect.book AND e.stripe_no = 0 AND e.seq = effect.seq
    WHERE c.jackpot_id = :jackpot_id AND effect.book = :jackpot_id AND {in_round_of_those_asked("c")}
),
decided AS MATERIALIZED (
    SELECT a.seq AS act_seq, max(effect.seq) AS effect_seq
    FROM acts a
    CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS effect (book text, seq bigint)
    WHERE a.jackpot_id = :jackpot_id AND effect.book = :jackpot_id
    GROUP BY a.seq
)
"""  # noqa: S608  the parts are ours
"""
WITH this: the rounds in which awards were made, by which verdict and entry, and the acts that decided about awards.

`parts` tells its parameters, besides whom it is asked about.
"""

BY_THE_END: Final = """
    (s.act_seq IS NULL OR CASE WHEN decided.effect_seq IS NULL THEN s.act_seq <= :acts_end
                               ELSE decided.effect_seq <= :upto END)
"""
"""WHERE this: the steps `s` that were taken by the end, LEFT JOIN `decided`; `upto` is the end on stripe 0."""
