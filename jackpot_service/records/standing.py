"""What is in force for a jackpot now: what a round that is first seen gets pinned."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import NoRate
from jackpot_service.pipelines import Cursor, Pipeline
from jackpot_service.records.rounds import RoundName, name_columns

_READ = """
SELECT j.base,
       (SELECT count(*) FROM stripes s WHERE s.jackpot_id = j.jackpot_id),
       (SELECT c.rules_version FROM cycles c WHERE c.jackpot_id = j.jackpot_id ORDER BY c.cycle DESC LIMIT 1),
       ARRAY(SELECT (SELECT r.number FROM rate_sheets r WHERE r.base = j.base AND r.effective_at <= came.at
                     ORDER BY r.effective_at DESC, r.number DESC LIMIT 1)
             FROM unnest(string_to_array(%(came)s, ' ')::timestamptz[]) WITH ORDINALITY AS came (at, number)
             ORDER BY came.number),
       ARRAY(SELECT asked.number::int
             FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' '))
                  WITH ORDINALITY AS asked (table_id, round_id, number)
             WHERE (SELECT true FROM rounds r
                    WHERE r.jackpot_id = %(jackpot_id)s AND r.table_id = asked.table_id
                      AND r.round_id = asked.round_id
                    LIMIT 1))
FROM jackpots j
WHERE j.jackpot_id = %(jackpot_id)s
"""


class UnknownJackpot(NotFound):
    """No jackpot of this id, or not for this caller."""

    code = "jackpot-unknown"
    title = "Unknown jackpot"


@dataclass(frozen=True, slots=True)
class Standing:
    """
    A jackpot's base currency, its number of stripes, and the rules version and rate sheets in force.

    `rate_sheets` are those at each of the instants that were asked about, None where there was none. `rounds_seen`
    tells which of the rounds that were asked about were there a moment ago, by their places from 1.
    """

    jackpot_id: str
    base: str
    stripes: int
    rules_version: int
    rate_sheets: list[int | None]
    rounds_seen: list[int]

    def require_sheet(self, place: int) -> int:
        """The sheet at one of the instants. Raises: NoRate if no sheet of the base currency was in force."""
        number = self.rate_sheets[place]
        if number is None:
            message = f"No rate sheet of {self.base} is in force."
            raise NoRate(message, currency=self.base)
        return number


def send_read(pipe: Pipeline, jackpot_id: str, *, came: Sequence[datetime], names: Sequence[RoundName] = ()) -> Cursor:
    """Send the question for requests that came at some instants, perhaps on behalf of rounds; see `standing_of`."""
    return pipe.send(
        _READ, {"jackpot_id": jackpot_id, "came": " ".join([at.isoformat() for at in came]), **name_columns(names)}
    )


def standing_of(cursor: Cursor, jackpot_id: str) -> Standing:
    """Read the answer to `send_read`. Raises: UnknownJackpot."""
    row = cursor.fetchone()
    if row is None:
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)
    return Standing(jackpot_id, *row)
