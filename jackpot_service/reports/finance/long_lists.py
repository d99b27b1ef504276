"""Lists that are as long as the books: read through a cursor of the server while they are written out."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import TextClause

from jackpot_service.db import Session
from jackpot_service.domain.round_keys import first_key_at
from jackpot_service.ledger.long_rounds import LONG
from jackpot_service.reports.documents import Row
from jackpot_service.reports.finance import parts, whose
from jackpot_service.reports.finance.frame import Scope, Stand

PAGE: Final = 1000
"""How many rows are in memory at a time."""


def streamed(session: Session, statement: TextClause, scope: Scope) -> Iterator[Row]:
    """
    Ask a statement of each jackpot; its id and its base currency come first in each row.

    The statement takes the parameters of `parts`, what was asked, `acts_end`, what a part is on stripe 0, and
    `usual_key`: most of a part's rounds were opened after it.
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
        "usual_key": 0 if scope.asked.start is None else first_key_at(scope.asked.start - LONG),
        "acts_end": scope.acts_end,
        **whose.parameters(scope.asked),
        "round_id": scope.asked.round_id,
    }
