"""The tables of a jackpot that have limits of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.table_limits import TableLimits
from jackpot_service.ledger import books
from jackpot_service.records import immutable, references


@dataclass(frozen=True, slots=True)
class LimitedTable:
    """A table with its limits, and the version of its jackpot's table limits that set them."""

    table_id: str
    version: int
    limits: TableLimits


@dataclass(frozen=True, slots=True)
class LimitedTables:
    """The tables of a jackpot that have limits of their own, by id; amounts are in its base currency."""

    jackpot_id: str
    currency: str
    tables: Sequence[LimitedTable]


def limited_tables(session: Session, principal: Principal, jackpot_id: str) -> LimitedTables:
    """Read the limits in force for the next bet, of the tables that a principal may see. Raises: UnknownJackpot."""
    base = references.require_base(session, jackpot_id)
    with pipelined(session) as pipe:
        cursor = books.send_read(pipe, jackpot_id)
    limits = immutable.limits(session, jackpot_id, books.books_of(cursor).limits_version)
    seen = [
        LimitedTable(table_id, table_limits.version, table_limits.limits)
        for table_id, table_limits in sorted(limits.items())
        if principal.sees_table(table_id, immutable.table(session, table_id).casino_id)
    ]
    return LimitedTables(jackpot_id, base, seen)
