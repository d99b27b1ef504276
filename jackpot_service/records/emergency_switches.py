"""The switch of emergency approvals: whether one person alone may approve an own request."""

from sqlalchemy import insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.records.deciding_schema import EmergencySwitchRow


def is_on(session: Session) -> bool:
    """Return whether emergency approvals are on now."""
    latest = select(EmergencySwitchRow.is_on).order_by(EmergencySwitchRow.entry_seq.desc()).limit(1)
    return bool(session.scalar(latest))


def add(session: Session, *, is_on: bool, entry_seq: int) -> None:
    """Write the switch; only the owner of the database may."""
    session.execute(insert(EmergencySwitchRow).values(entry_seq=entry_seq, is_on=is_on))
