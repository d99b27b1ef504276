"""The closing of a round's betting: found among the round's entries, of which it is at most one."""

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain import facts
from jackpot_service.domain.outcomes import Closing
from jackpot_service.domain.rounds import Round

_FIND = """
SELECT step, facts
FROM entries
WHERE jackpot_id = %(jackpot_id)s AND round_key = %(round_key)s AND kind = 'closing'
"""


def send_find(pipe: Pipeline, round_: Round) -> Cursor:
    """Send the question for a round's closing; `closing_of` or `step_of` reads the answer."""
    return pipe.send(_FIND, {"jackpot_id": round_.jackpot_id, "round_key": round_.round_key})


def closing_of(cursor: Cursor) -> Closing | None:
    """Read the answer: the closing, or None if betting was not closed."""
    return next((facts.closing_of(recorded) for _, recorded in cursor), None)


def step_of(cursor: Cursor) -> int | None:
    """Read the answer: the step of the round by which betting was closed, if it was."""
    return next((step for step, _ in cursor), None)
