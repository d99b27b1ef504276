"""Which table a call is about, and whether its caller may speak for it."""

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.principals import Principal
from jackpot_service.records import pinned
from jackpot_service.records.pinned import Table, UnknownTable


class NoJackpot(Refused, code="no-jackpot", title="The table has no jackpot"):
    """The table takes no jackpot bets."""


def visible(session: Session, principal: Principal, table_id: str) -> Table:
    """Find a table. Raises: UnknownTable, also for one that the principal may not see."""
    table = pinned.table(session, table_id)
    if not principal.sees_table(table_id, table.casino_id):
        message = f"There is no table {table_id}."
        raise UnknownTable(message, table_id=table_id)
    return table


def with_jackpot(session: Session, principal: Principal, table_id: str) -> tuple[Table, str]:
    """Find a table that takes jackpot bets, and its jackpot. Raises: UnknownTable; NoJackpot."""
    table = visible(session, principal, table_id)
    if table.jackpot_id is None:
        message = f"Table {table_id} has no jackpot; it takes no jackpot bets."
        raise NoJackpot(message, table_id=table_id)
    return table, table.jackpot_id
