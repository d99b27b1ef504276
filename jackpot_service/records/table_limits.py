"""The limits of single tables, by version: each version changed those of one table of its jackpot."""

from sqlalchemy import insert

from jackpot_service.database.models import TableLimitsRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.table_limits import TableLimits, as_document


def add(session: Session, jackpot_id: str, version: int, table_id: str, limits: TableLimits, *, entry_seq: int) -> None:
    """Write a version; `entry_seq` is the entry on the jackpot's stripe 0 that recorded it."""
    session.execute(
        insert(TableLimitsRow).values(
            jackpot_id=jackpot_id,
            version=version,
            table_id=table_id,
            document=as_document(limits),
            entry_seq=entry_seq,
        )
    )
