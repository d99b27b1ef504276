"""Who made the keys by which rounds were played."""

from datetime import datetime

from sqlalchemy import func, select

from jackpot_service.database.transactions import Session


def is_on_both_sides(session: Session, *, jackpot_id: str, round_key: int, actor: str, at: datetime) -> bool:
    """
    Return whether one person made a key of the round, and is the actor or made a key of the actor's.

    A key of the round is one that a principal who booked an entry of it could use then. Keys that were made on the
    machine are nobody's. The database's triggers ask the same function.
    """
    return bool(session.scalar(select(func.is_key_maker_on_both_sides(jackpot_id, round_key, actor, at))))
