"""What a version before this one left in the books."""

from datetime import datetime

from sqlalchemy import insert

from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants_schema import InstantRow


def write_down(session: Session, book: str, instant: datetime) -> None:
    """Write down where all stripes that there are now stood at an instant."""
    positions = list(instants.before(session, book, instant))
    session.execute(insert(InstantRow).values(jackpot_id=book, instant=instant, positions=positions))
