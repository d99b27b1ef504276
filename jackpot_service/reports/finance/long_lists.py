"""Lists that are as long as the books: read through a cursor of the server while they are written out."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import TextClause

from jackpot_service.db import Session
from jackpot_service.reports.documents import Row
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Scope, Stand

PAGE: Final = 1000
"""How many rows are in memory at a time."""

_OF_THOSE_ASKED: Final = """
    (coalesce(CAST(:casino_id AS text), CAST(:table_id AS text)) IS NULL OR EXISTS (
        SELECT FROM rounds o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = {round_key}
          AND (CAST(:casino_id AS text) IS NULL OR o.casino_id = :casino_id)
          AND (CAST(:table_id AS text) IS NULL OR o.table_id = :table_id)
    ))
"""


def of_those_asked(round_key: str) -> str:
    """The condition that a round, by its key, is of the casino and at the table that were asked about."""
    return _OF_THOSE_ASKED.format(round_key=round_key)


def streamed(session: Session, statement: TextClause, scope: Scope) -> Iterator[Row]:
    """
    Ask a statement of each jackpot; its id and its base currency come first in each row.

    The statement takes the parameters of `parts`, what was asked, `acts_end`, and what a part is on stripe 0.
    """
    for stand in scope.stands:
        with session.execute(statement, parameters(scope, stand), execution_options={"yield_per": PAGE}) as found:
            for row in found:
                yield (stand.jackpot_id, stand.base, *row)


def parameters(scope: Scope, stand: Stand) -> Mapping[str, Any]:
    """The parameters of a question about a part that is read one by one."""
    bounds = parts.bounds(stand)
    return {
        **bounds,
        "start": bounds["starts"][0],
        "upto": stand.end[0],
        "acts_end": scope.acts_end,
        "casino_id": scope.asked.casino_id,
        "table_id": scope.asked.table_id,
        "round_id": scope.asked.round_id,
    }
