"""What is in force for a jackpot now: what a round that is first seen gets pinned."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import NoRate
from jackpot_service.records.rounds import RoundName, columns

_READ = """
SELECT j.base,
       (SELECT count(*) FROM stripes s WHERE s.jackpot_id = j.jackpot_id),
       (SELECT c.rules_version FROM cycles c WHERE c.jackpot_id = j.jackpot_id ORDER BY c.cycle DESC LIMIT 1),
       (SELECT r.number FROM rate_sheets r WHERE r.base = j.base AND r.effective_at <= %(now)s
        ORDER BY r.effective_at DESC, r.number DESC LIMIT 1),
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
    A jackpot's base currency, its number of stripes, and the rules version and rate sheet in force.

    `rounds_seen` tells which of the rounds that were asked about were there a moment ago, by their places from 1.
    """

    jackpot_id: str
    base: str
    stripes: int
    rules_version: int
    rate_sheet: int | None
    rounds_seen: list[int]

    def require_sheet(self) -> int:
        """Raises: NoRate if no sheet of the base currency is in force."""
        if self.rate_sheet is None:
            message = f"No rate sheet of {self.base} is in force."
            raise NoRate(message, currency=self.base)
        return self.rate_sheet


def send_read(
    pipe: Pipeline, jackpot_id: str, *, now: datetime, names: Sequence[RoundName] = ()
) -> psycopg.Cursor[Any]:
    """Send the question, perhaps on behalf of rounds; `standing_of` reads the answer."""
    return pipe.send(_READ, {"jackpot_id": jackpot_id, "now": now, **columns(names)})


def standing_of(cursor: psycopg.Cursor[Any], jackpot_id: str) -> Standing:
    """Read the answer to `read`. Raises: UnknownJackpot."""
    row = cursor.fetchone()
    if row is None:
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)
    return Standing(jackpot_id, *row)
