"""Lists that are as long as the books: read through a cursor of the server while they are written out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import first_key_at
from jackpot_service.ledger.long_rounds import LONG
from jackpot_service.reports.documents import Row
from jackpot_service.reports.finance import parts, whose
from jackpot_service.reports.finance.frame import Scope, Stand

PAGE: Final = 1000
"""How many rows are in memory at a time."""


@dataclass(frozen=True, slots=True)
class LongList:
    """
    What a statement tells of each jackpot; its id and its base currency come first in each row.

    The statement takes the parameters of `parts`, what was asked, `acts_end`, what a part is on stripe 0, and
    `usual_key`: most of a part's rounds were opened after it.
    """

    session: Session
    statement: str
    scope: Scope

    def __iter__(self) -> Iterator[Row]:
        """Read the rows, a page at a time."""
        streamed = {"yield_per": PAGE}
        for stand in self.scope.stands:
            asked = parameters(self.scope, stand)
            with self.session.execute(text(self.statement), asked, execution_options=streamed) as found:
                for row in found:
                    yield (stand.jackpot_id, stand.base, *row)

    def count(self) -> int:
        """Count the rows: the database looks for all of them, and hands over none."""
        question = text(f"SELECT count(*) FROM ({self.statement}) AS listed")  # noqa: S608  the statements are ours
        counts = (self.session.scalar(question, parameters(self.scope, stand)) for stand in self.scope.stands)
        return sum(count for count in counts if count is not None)


def parameters(scope: Scope, stand: Stand) -> Mapping[str, Any]:
    """The parameters of a question about a part that is read one by one."""
    bounds = parts.bounds(stand)
    return {
        **bounds,
        "start": bounds["starts"][0],
        "upto": stand.end[0],
        "usual_key": 0 if scope.asked.start is None else first_key_at(scope.asked.start - LONG),
        "acts_end": scope.acts_end,
        **whose.parameters(scope.asked),
        "round_id": scope.asked.round_id,
    }
