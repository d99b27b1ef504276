"""What is in force for a jackpot now: what a round that is first seen gets pinned."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg

from jackpot_service.db import Pipeline
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import NoRate

_READ = """
SELECT j.base,
       (SELECT count(*) FROM stripes s WHERE s.jackpot_id = j.jackpot_id),
       (SELECT c.rules_version FROM cycles c WHERE c.jackpot_id = j.jackpot_id ORDER BY c.cycle DESC LIMIT 1),
       (SELECT r.number FROM rate_sheets r WHERE r.base = j.base AND r.effective_at <= %(now)s
        ORDER BY r.effective_at DESC, r.number DESC LIMIT 1),
       EXISTS (SELECT FROM rounds o
               WHERE o.jackpot_id = j.jackpot_id AND o.table_id = %(table_id)s AND o.round_id = %(round_id)s)
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

    `is_round_seen` tells whether the round that was asked about was there, a moment ago.
    """

    jackpot_id: str
    base: str
    stripes: int
    rules_version: int
    rate_sheet: int | None
    is_round_seen: bool

    def require_sheet(self) -> int:
        """Raises: NoRate if no sheet of the base currency is in force."""
        if self.rate_sheet is None:
            message = f"No rate sheet of {self.base} is in force."
            raise NoRate(message, currency=self.base)
        return self.rate_sheet


def send_read(pipe: Pipeline, *, jackpot_id: str, table_id: str, round_id: str, now: datetime) -> psycopg.Cursor[Any]:
    """Send the question, on behalf of a round; `standing_of` reads the answer."""
    return pipe.send(_READ, {"jackpot_id": jackpot_id, "table_id": table_id, "round_id": round_id, "now": now})


def standing_of(cursor: psycopg.Cursor[Any], jackpot_id: str) -> Standing:
    """Read the answer to `read`. Raises: UnknownJackpot."""
    row = cursor.fetchone()
    if row is None:
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)
    return Standing(jackpot_id, *row)
